package import ApusWaiting

/// A fault on a connection: a trigger, an effect, and a scope of connections or requests.
///
/// The faults of a server are in its options. Any trigger can be combined with any effect:
///
/// ```swift
/// let options = TestServer.Options(faults: [
///   Fault(at: .connect, .reset, on: .connection(0)),                // the first connection, immediately
///   Fault(at: .responseContent(after: 4), .truncate(), on: .path("/users")),
///   Fault(at: .responseHead, .stall(until: gate)),                  // every other response
/// ])
/// ```
///
/// At each trigger, the first fault whose scope covers the connection or request takes effect:
///
/// | | connect | request head, request content | response head, response content | end |
/// |---|---|---|---|---|
/// | close | before the TLS handshake or any response | instead of a response | before the head, or inside the content
/// | after the response, unannounced |
/// | half-close | the server closes its side immediately and waits for the client to close the other | the same,
/// instead of a response | the same, before the head or inside the content | the same, after the response |
/// | reset | RST as soon as the connection is established | RST instead of a response | RST before the head, or inside
/// the content | RST after the response |
/// | stall | no handshake; nothing is read | nothing more is read, no response | nothing more is sent | the response is
/// sent; the connection serves no further request |
/// | throttle | everything is throttled in both directions, including the handshake | from there on | from there on |
/// from the next request on |
/// | truncate | the handshake or the first response is cut off | the response is cut off | the head or the content is
/// cut off | the connection is cut after the response |
/// | garbage | before the handshake or any response | before the response | before the head, or inside the content |
/// after the response |
/// | flood | unsolicited responses | interim responses | fields, or content | unsolicited responses |
///
/// After an effect that does not end the connection, the connection continues normally. With TLS all bytes are sent
/// inside TLS, except at `connect`, before TLS is set up. `close` and `halfClose` send close_notify, `reset` and
/// `truncate` do not.
///
/// Nothing is read while a fault at `requestHead` or `requestContent` is in effect. If the connection is then closed
/// while bytes of the request are unread, the client receives a reset.
package struct Fault: Sendable, CustomStringConvertible {
  /// The moment at which the fault takes effect.
  package var trigger: Trigger
  /// The effect of the fault.
  package var effect: Effect
  /// The affected connections or requests.
  package var scope: Scope

  /// Creates a fault. Default scope: all connections and requests.
  package init(at trigger: Trigger, _ effect: Effect, on scope: Scope = .everything) {
    self.trigger = trigger
    self.effect = effect
    self.scope = scope
  }

  /// Every trigger with every effect, with default arguments and for all connections and requests.
  package static let matrix = Trigger.allCases.flatMap { trigger in
    Effect.allCases.map { Fault(at: trigger, $0) }
  }

  /// The effect and the trigger, such as `reset at response head`.
  package var description: String { "\(effect) at \(trigger)" }
}

extension Fault {
  /// The moment at which a fault takes effect.
  package enum Trigger: Sendable, Hashable, CaseIterable, CustomStringConvertible {
    /// A connection was accepted; nothing has been read, and TLS is not set up.
    case connect
    /// A request's head was received. Nothing after it is read until the fault is over.
    case requestHead
    /// The given number of bytes of a request's content were received, or all content if it is shorter. Nothing more is
    /// read until the fault is over.
    case requestContent(after: Int = 1)
    /// The head of the response is about to be sent.
    case responseHead
    /// The given number of bytes of the response's content were sent, or all content if it is shorter.
    case responseContent(after: Int = 1)
    /// The response was sent.
    case end

    /// Every trigger, with defaults.
    package static let allCases: [Trigger] = [
      .connect, .requestHead, .requestContent(), .responseHead, .responseContent(), .end,
    ]

    /// The trigger in words, such as `request head`.
    package var description: String {
      switch self {
      case .connect: "connect"
      case .requestHead: "request head"
      case .requestContent: "request content"
      case .responseHead: "response head"
      case .responseContent: "response content"
      case .end: "end"
      }
    }

    /// The point in a reply; `nil` for triggers that precede the reply.
    var point: Reply.Point? {
      switch self {
      case .connect, .requestHead, .requestContent: nil
      case .responseHead: .start
      case .responseContent(let length): .content(length)
      case .end: .end
      }
    }
  }

  /// The effect of a fault.
  package enum Effect: Sendable, CaseIterable, CustomStringConvertible {
    /// The server closes the connection.
    case close
    /// The server closes its sending side of the connection and reads until the client closes the other side.
    case halfClose
    /// The server resets the connection.
    case reset
    /// The server is idle until a gate opens; without a gate, until the client disconnects.
    ///
    /// With a gate nothing is read meanwhile: if the client has sent more than the socket buffers can hold, its
    /// disconnect is detected only when the gate opens. Without a gate incoming bytes are discarded, and the disconnect
    /// is detected immediately.
    case stall(until: Gate? = nil)
    /// From here on reads and sends at most `bytes` in each interval of the event loop's clock.
    case throttle(bytes: Int = 1024, every: Duration = .milliseconds(1))
    /// The given number of further bytes are sent, in any part of the message; then the connection is cut, over TLS
    /// without close_notify. After a shorter response the connection is cut as well.
    case truncate(after: Int = 8)
    /// Random bytes, determined by the seed.
    case garbage(bytes: Int = 64, seed: UInt64 = 0)
    /// A flood of up to the given number of bytes. `nil` selects the kind of flood for the trigger.
    case flood(Flood? = nil, upTo: Int = 1 << 20)

    /// Whether the effect lasts until the client disconnects.
    var isEndless: Bool { if case .stall(until: nil) = self { true } else { false } }

    /// Every effect, with defaults.
    package static let allCases: [Effect] = [
      .close, .halfClose, .reset, .stall(), .throttle(), .truncate(), .garbage(), .flood(),
    ]

    /// The effect in a word, such as `half-close`.
    package var description: String {
      switch self {
      case .close: "close"
      case .halfClose: "half-close"
      case .reset: "reset"
      case .stall: "stall"
      case .throttle: "throttle"
      case .truncate: "truncate"
      case .garbage: "garbage"
      case .flood: "flood"
      }
    }
  }

  /// The kind of a flood.
  package enum Flood: String, Sendable, Hashable, CaseIterable {
    /// Interim responses (103).
    case interimResponses
    /// Fields of 1 KiB each; inside the response's head at ``Fault/Trigger/responseHead``.
    case fields
    /// Content; in chunks at ``Fault/Trigger/responseContent(after:)``, regardless of the reply's framing.
    case content
    /// The extension of a single chunk; with a matching head at ``Fault/Trigger/responseContent(after:)``.
    case chunkExtensions
    /// Trailer fields of 1 KiB each; after a last chunk at ``Fault/Trigger/responseContent(after:)``.
    case trailers
    /// Complete, unsolicited responses.
    case answers
  }

  /// The connections or requests that a fault affects.
  package struct Scope: Sendable {
    private let covers: @Sendable (Occasion) -> Bool

    /// Every connection and every request.
    package static let everything = Scope { _ in true }

    /// Requests with this path (the target up to `?`). Never matches at ``Fault/Trigger/connect``, because no request
    /// exists yet.
    package static func path(_ path: String) -> Scope {
      Scope { $0.request?.path == path }
    }

    /// The connection with this number, from 0, and the requests on it.
    package static func connection(_ number: Int) -> Scope {
      Scope { $0.connection == number }
    }

    /// The request with this number, from 0. Never matches at ``Fault/Trigger/connect``, because no request exists yet.
    package static func request(_ number: Int) -> Scope {
      Scope { $0.request?.number == number }
    }

    /// The occasions for which `covers` returns `true`.
    package static func matching(_ covers: @escaping @Sendable (Occasion) -> Bool) -> Scope {
      Scope(covers: covers)
    }

    fileprivate func contains(_ occasion: Occasion) -> Bool { covers(occasion) }
  }

  /// The connection and the request at the moment when a fault may take effect.
  package struct Occasion: Sendable {
    /// The number of the connection, from 0.
    package let connection: Int
    /// The request, as far as it has been received; `nil` at ``Fault/Trigger/connect``.
    package let request: RecordedRequest?
  }
}

extension [Fault] {
  /// Returns the effect on a new connection, if any.
  func effect(onConnection connection: Int) -> Fault.Effect? {
    let occasion = Fault.Occasion(connection: connection, request: nil)
    return first { $0.trigger == .connect && $0.scope.contains(occasion) }?.effect
  }

  /// Returns the first fault that affects a request and has a trigger of the given kind.
  func first(on request: RecordedRequest, where fits: (Fault.Trigger) -> Bool) -> Fault? {
    let occasion = Fault.Occasion(connection: request.connection, request: request)
    return first { fits($0.trigger) && $0.scope.contains(occasion) }
  }
}

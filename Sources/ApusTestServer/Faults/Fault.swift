#if NIO
  /// Something that goes wrong on a connection: when, what, and on which connections or requests.
  ///
  /// A server suffers the faults of its options. Any trigger goes with any effect:
  ///
  /// ```swift
  /// let options = TestServer.Options(faults: [
  ///   Fault(at: .connect, .reset, on: .connection(0)),                // the first connection, at once
  ///   Fault(at: .responseContent(after: 4), .truncate(), on: .path("/users")),
  ///   Fault(at: .responseHead, .stall(until: gate)),                  // every other answer
  /// ])
  /// ```
  ///
  /// At each trigger the first fault counts whose scope covers the connection or request. What an effect means:
  ///
  /// | | connect | request head, request content | response head, response content | end |
  /// |---|---|---|---|---|
  /// | close | in place of the TLS handshake, or of any answer | in place of an answer | before the head, or inside the content | behind the answer, unannounced |
  /// | half-close | the server ends its side at once, and waits for the client to end the other | the same in place of an answer | the same before the head, or inside the content | the same behind the answer |
  /// | reset | RST as soon as the connection is made | RST in place of an answer | RST before the head, or inside the content | RST behind the answer |
  /// | stall | no handshake, nothing read | no more is read, nothing answered | no more is sent | the answer's bytes have left; the connection serves nobody else |
  /// | throttle | everything, handshake included, goes so slowly, both ways | from there on | from there on | from the next request on |
  /// | truncate | the handshake or the first answer is cut off | the answer is cut off | the head, or the content, is cut off | the connection is cut behind the answer |
  /// | garbage | before the handshake, or before any answer | before the answer | before the head, or inside the content | behind the answer |
  /// | flood | unasked answers | interim responses | fields, or content | unasked answers |
  ///
  /// Effects that do not end the connection let it go on as if nothing had been. Over TLS every byte is sent inside of
  /// it, except at `connect`, when there is none yet; `close` and `halfClose` say farewell (close_notify), `reset` and
  /// `truncate` do not.
  ///
  /// While a fault at `requestHead` or `requestContent` runs, nothing more is read; so a close there, with bytes of the
  /// request unread, reaches the client as a reset.
  public struct Fault: Sendable, CustomStringConvertible {
    /// When it happens.
    public var trigger: Trigger
    /// What happens.
    public var effect: Effect
    /// Which connections or requests it happens to.
    public var scope: Scope

    /// A fault that happens at a moment; to everything, unless a scope is given.
    public init(at trigger: Trigger, _ effect: Effect, on scope: Scope = .everything) {
      self.trigger = trigger
      self.effect = effect
      self.scope = scope
    }

    /// Every trigger with every effect, each with its defaults and for everything.
    public static let matrix = Trigger.allCases.flatMap { trigger in
      Effect.allCases.map { Fault(at: trigger, $0) }
    }

    /// Effect and trigger: `reset at response head`.
    public var description: String { "\(effect) at \(trigger)" }
  }
#endif

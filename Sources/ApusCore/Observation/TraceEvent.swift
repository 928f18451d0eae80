/// One thing that happened to a call: of fixed size, text is made only when somebody reads it.
public struct TraceEvent: Sendable, Hashable {
  /// What happened.
  public enum Kind: Sendable, Hashable {
    /// The app made the call.
    case started
    /// The request message is complete.
    case prepared
    /// The call shares the exchange of the call with this serial number.
    case joined(serial: UInt64)
    /// An attempt begins.
    case attemptStarted
    /// An attempt failed, and this was decided.
    indirect case attemptFailed(FailedAttempt)
    /// The call waits for its turn, for this reason.
    case queued(WaitingCause)
    /// It has its turn, after so long.
    case admitted(after: Duration)
    /// Credentials were put on the message; the generation tells one set of credentials from the next.
    case authorized(generation: UInt64)
    /// The server did not accept the credentials of this generation.
    case unauthorized(generation: UInt64)
    /// The call waits for other credentials than those of this generation.
    case awaitingCredentials(generation: UInt64)
    /// The server referred to another place with this status, and the call goes there: the next exchange is another hop
    /// of the same attempt.
    indirect case redirected(status: Int, from: Origin, to: Origin)
    /// The message was handed to the transport.
    case exchangeStarted
    /// How long a part of what comes before sending took; told once there is a connection.
    case phase(ConnectionPhase, Duration)
    /// A connection was there: a new one or one in use before.
    case connected(reused: Bool)
    /// The request has left, content included.
    case requestSent
    /// The request goes to a new connection, since the one in use before was closed before any byte of the answer, or
    /// before anything was written: the one retry that a transport may make by itself.
    case resent
    /// An interim response arrived (RFC 9110 §15.2).
    case interim(status: Int)
    /// The first byte of the answer arrived, and not the whole head with it.
    case firstByteArrived
    /// The head of the answer arrived.
    case headArrived(status: Int)
    /// So many bytes of content have left; not kept in the trace, for observers only.
    case sendProgress(sent: Int64, expected: Int64?)
    /// So many bytes of content have arrived; not kept in the trace, for observers only.
    case receiveProgress(received: Int64, expected: Int64?)
    /// All content arrived.
    case contentArrived(length: Int64)
    /// The value is decoded.
    case decoded
    /// Somebody ended the call before it was done.
    case cancelRequested(CancellationReason)
    /// A middleware's decision, with a number whose meaning the name tells.
    case note(StaticNote, Int64)
    /// The call ended with a value.
    case succeeded
    /// The call ended with an error.
    case failed(ErrorCode)
  }

  /// What happened.
  public let kind: Kind
  /// When, on the client's clock.
  public let instant: MonotonicInstant
  /// The attempt it belongs to, from 1.
  public let attempt: Int

  /// Makes an event, for fakes and previews. Calls write their own, see ``CallContext/record(_:)``.
  public init(kind: Kind, instant: MonotonicInstant, attempt: Int = 1) {
    (self.kind, self.instant, self.attempt) = (kind, instant, attempt)
  }
}

/// A fixed text in a trace: the name of a decision that a middleware took.
public struct StaticNote: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
  private let text: StaticString

  /// Makes a note of a literal, for example `"served stale, age in seconds"`.
  public init(stringLiteral value: StaticString) {
    text = value
  }

  /// The text.
  public var description: String { text.description }

  /// Whether both say the same.
  public static func == (lhs: StaticNote, rhs: StaticNote) -> Bool {
    lhs.description == rhs.description
  }

  /// Hashes the text.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(description)
  }
}

extension TraceEvent.Kind: CustomStringConvertible {
  /// The event as it stands in a timeline.
  public var description: String {
    switch self {
    case .started: "started"
    case .prepared: "request prepared"
    case .joined(let serial): "joined the exchange of call #\(serial)"
    case .attemptStarted: "attempt started"
    case .attemptFailed(let attempt): "attempt failed with \(attempt)"
    case .queued(let cause): "waits for its turn: \(cause)"
    case .admitted(let time): "has its turn after \(Trace.milliseconds(time)) ms"
    case .authorized(let generation): "credentials of generation \(generation) added"
    case .unauthorized(let generation): "credentials of generation \(generation) not accepted"
    case .awaitingCredentials(let generation): "waits for other credentials than those of generation \(generation)"
    case .redirected(let status, let from, let to): "redirected with status \(status) from \(from) to \(to)"
    case .exchangeStarted: "exchange started"
    case .phase(let phase, let time): "\(phase.rawValue): \(Trace.milliseconds(time)) ms"
    case .connected(let reused): reused ? "on a connection in use before" : "on a new connection"
    case .requestSent: "request sent"
    case .resent: "to a new connection: the one in use before was closed before any byte of the answer"
    case .interim(let status): "interim response with status \(status)"
    case .firstByteArrived: "first byte of the answer"
    case .headArrived(let status): "answered with status \(status)"
    case .sendProgress(let sent, let expected): "sent \(sent) of \(Self.total(expected)) bytes"
    case .receiveProgress(let received, let expected): "received \(received) of \(Self.total(expected)) bytes"
    case .contentArrived(let length): "content complete, \(length) bytes"
    case .decoded: "decoded"
    case .cancelRequested(let reason): "cancel requested: \(reason)"
    case .note(let note, let number): "\(note): \(number)"
    case .succeeded: "succeeded"
    case .failed(let code): "failed: \(code.rawValue)"
    }
  }

  private static func total(_ expected: Int64?) -> String {
    expected.map { String($0) } ?? "an unknown number of"
  }
}

/// Why a call waits for its turn before it is sent.
public enum WaitingCause: Sendable, Hashable, CustomStringConvertible {
  /// The app holds it back: its tag, or every call.
  case held
  /// So many calls with a tag of its own run already.
  case tag(limit: Int)
  /// So many calls to its server run already.
  case origin(limit: Int)
  /// So many calls run already.
  case total(limit: Int)
  /// There is room, and others take it first.
  case others
  /// So many have been sent that the pace allows no more, or the server asked for a pause.
  case rateLimit
  /// The device has no network.
  case network

  /// The reason as it stands in a timeline.
  public var description: String {
    switch self {
    case .held: "held back"
    case .tag(let limit): "\(limit) calls with its tag at a time"
    case .origin(let limit): "\(limit) calls to its server at a time"
    case .total(let limit): "\(limit) calls at a time"
    case .others: "others go first"
    case .rateLimit: "the rate limit"
    case .network: "there is no network"
    }
  }
}

/// What happens before a request can be sent: as far as a transport can tell.
public enum ConnectionPhase: String, Sendable, Hashable, CaseIterable {
  /// Waiting for a connection, without the time in which one was being made for it.
  case queued
  /// Finding the addresses of the host's name.
  case nameLookup
  /// Connecting to an address, and where there is one through a proxy.
  case connecting
  /// The TLS handshake.
  case securing
}

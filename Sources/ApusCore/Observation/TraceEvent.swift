/// An event in the life of a call. Events have a fixed size; their text is created on demand.
public struct TraceEvent: Sendable, Hashable {
  /// The kind of an event.
  #if hasAttribute(nonexhaustive)
  @nonexhaustive
  #endif
  public enum Kind: Sendable, Hashable {
    /// The app started the call.
    case started
    /// The request message is complete.
    case prepared
    /// The call shares the in-flight exchange of the call with this serial number.
    case coalesced(serial: UInt64)
    /// An attempt began.
    case attemptStarted
    /// An attempt failed.
    indirect case attemptFailed(FailedAttempt)
    /// The call waits in a queue.
    case queued(QueueReason)
    /// The call left the queue after this time.
    case admitted(after: Duration)
    /// Credentials were added to the message. The generation number grows with every refresh.
    case credentialsAdded(generation: UInt64)
    /// The server rejected the credentials of this generation.
    case credentialsRejected(generation: UInt64)
    /// The call waits until the credentials of this generation are replaced.
    case awaitingCredentials(generation: UInt64)
    /// The call follows a redirect. The next exchange belongs to the same attempt.
    indirect case redirected(status: Int, from: Origin, to: Origin)
    /// The message was passed to the transport.
    case exchangeStarted
    /// A phase of getting a connection took this time. Recorded once the exchange has a connection.
    case phase(ConnectionPhase, Duration)
    /// The exchange has a connection, new or reused.
    case connected(reused: Bool, ConnectionInfo = ConnectionInfo())
    /// The whole request was sent, content (body) included.
    case requestSent
    /// The transport resends the request on a new connection. A transport must not make any other retry by itself.
    ///
    /// The reused connection was closed before any byte of the response arrived, or before anything was written.
    case resent
    /// An interim response arrived (RFC 9110 §15.2).
    case interim(status: Int)
    /// The first byte of the response arrived, without the complete head.
    case firstByteArrived
    /// The response head arrived.
    case headArrived(status: Int)
    /// The number of content bytes sent so far, and the total if it is known. Delivered to observers only, not stored
    /// in the trace.
    case sendProgress(sent: Int64, expected: Int64?)
    /// The number of content bytes received so far, and the total if it is known. Delivered to observers only, not
    /// stored in the trace.
    case receiveProgress(received: Int64, expected: Int64?)
    /// All content arrived.
    case contentArrived(length: Int64)
    /// The value is decoded.
    case decoded
    /// The decision of a cache, see ``CacheStatus``.
    indirect case cache(CacheStatus)
    /// The call was cancelled, or its deadline passed.
    case cancelRequested(CancellationReason)
    /// A decision of a middleware, with a number that the note explains.
    case note(TraceNote, Int64)
    /// The call ended with a value.
    case succeeded
    /// The call ended with an error.
    case failed(CallError.Code)
  }

  /// The kind of the event.
  public let kind: Kind
  /// The instant of the event, on the client's clock.
  public let instant: MonotonicInstant
  /// The number of the attempt, from 1.
  public let attempt: Int

  /// Creates an event. To add an event to a running call use ``CallContext/record(_:)``.
  package init(kind: Kind, instant: MonotonicInstant, attempt: Int = 1) {
    (self.kind, self.instant, self.attempt) = (kind, instant, attempt)
  }
}

/// The name of a middleware's decision: a constant text in a trace.
public struct TraceNote: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
  private let text: StaticString

  /// Creates a note from a literal, for example `"served stale, age in seconds"`.
  public init(stringLiteral value: StaticString) {
    text = value
  }

  /// The text.
  public var description: String { text.description }

  /// Whether both notes have the same text.
  public static func == (lhs: TraceNote, rhs: TraceNote) -> Bool {
    lhs.description == rhs.description
  }

  /// Hashes the text.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(description)
  }
}

extension TraceEvent.Kind: CustomStringConvertible {
  /// The event's line in the timeline.
  public var description: String {
    switch self {
    case .started: "started"
    case .prepared: "request prepared"
    case .coalesced(let serial): "coalesced with call #\(serial)"
    case .attemptStarted: "attempt started"
    case .attemptFailed(let attempt): "attempt failed with \(attempt)"
    case .queued(let cause): "queued: \(cause)"
    case .admitted(let time): "admitted after \(Trace.milliseconds(time)) ms"
    case .credentialsAdded(let generation): "credentials added, generation \(generation)"
    case .credentialsRejected(let generation): "credentials rejected by the server, generation \(generation)"
    case .awaitingCredentials(let generation): "waiting until the credentials of generation \(generation) are replaced"
    case .redirected(let status, let from, let to): "redirected with status \(status) from \(from) to \(to)"
    case .exchangeStarted: "exchange started"
    case .phase(let phase, let time): "\(phase.text): \(Trace.milliseconds(time)) ms"
    case .connected(let reused, let info): info.text(reused: reused)
    case .requestSent: "request sent"
    case .resent: "resent on a new connection: the reused one was closed before any byte of the response"
    case .interim(let status): "interim response with status \(status)"
    case .firstByteArrived: "first byte of the response"
    case .headArrived(let status): "response with status \(status)"
    case .sendProgress(let sent, let expected): "sent \(sent) of \(Self.total(expected)) bytes"
    case .receiveProgress(let received, let expected): "received \(received) of \(Self.total(expected)) bytes"
    case .contentArrived(let length): "content complete, \(length) bytes"
    case .decoded: "decoded"
    case .cache(let status): "cache: \(status)"
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

/// The reason why a call is queued.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum QueueReason: Sendable, Hashable, CustomStringConvertible {
  /// The app paused all calls or one of the call's tags.
  case held
  /// The concurrency limit of one of the call's tags is reached.
  case tag(limit: Int)
  /// The concurrency limit of the call's origin is reached.
  case origin(limit: Int)
  /// The global concurrency limit is reached.
  case global(limit: Int)
  /// A permit is free, but other queued calls are ahead of this call.
  case behindOthers
  /// The rate limit is exhausted, or the server requested a delay.
  case rateLimit
  /// The device has no network.
  case network

  /// The reason as a phrase.
  public var description: String {
    switch self {
    case .held: "held by the app"
    case .tag(let limit): "concurrency limit of its tag, \(limit)"
    case .origin(let limit): "concurrency limit of its origin, \(limit)"
    case .global(let limit): "global concurrency limit, \(limit)"
    case .behindOthers: "behind other calls"
    case .rateLimit: "rate limit"
    case .network: "no network"
    }
  }
}

/// A phase before a request is sent, as far as the transport can measure it.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum ConnectionPhase: Sendable, Hashable, CaseIterable {
  /// Waiting for a connection from the pool. Does not count the time to open a connection for this exchange.
  case queued
  /// Looking up the addresses of the host.
  case nameLookup
  /// Connecting to an address, directly or through a proxy.
  case connecting
  /// The TLS handshake.
  case tlsHandshake

  fileprivate var text: String {
    switch self {
    case .queued: "connection queue"
    case .nameLookup: "name lookup"
    case .connecting: "connect"
    case .tlsHandshake: "TLS handshake"
    }
  }
}

import ApusCore
import NIOCore
import Synchronization

/// One exchange, shared by the caller's task and a connection's event loop. The caller's task may be cancelled at any
/// time. The first of the two to end the exchange wins.
///
/// Calls go in one direction: the transport finds a ``Connection`` for the exchange, the connection's
/// ``ExchangeCarrier`` writes the request and reads the response, and the exchange resumes the caller with the
/// response or an error. An exchange that ends early leaves the queue of its ``ConnectionOwner`` or its connection.
final class Exchange: DeadlineTarget {
  /// The caller, which waits for the response.
  typealias Continuation = CheckedContinuation<ResponseMessage, any Error>
  typealias State = ExchangeState<Connection>

  private struct Shared {
    var state = State()
    var continuation: Continuation?
    /// The start of the wait for a connection; `nil` if there was no wait.
    var queuedSince: NIODeadline?
    /// Whether the pool's limits delay the exchange: when it began to wait, no connection was being made for it.
    var isDelayedByLimits = false
    /// The alarm that ends the wait for a connection.
    var alarm: Scheduled<Void>?

    mutating func takeContinuation(_ resumesCaller: Bool) -> Continuation? {
      guard resumesCaller else { return nil }
      defer { continuation = nil }
      return continuation
    }

    mutating func takeAlarm() -> Scheduled<Void>? {
      defer { alarm = nil }
      return alarm
    }
  }

  let request: PreparedRequest
  let context: ExchangeContext
  let timeouts: Timeouts
  private let owner: any ConnectionOwner
  private let shared = Mutex(Shared())
  /// The stream of the exchange, for the carrier of a connection with several streams; 0 if there is none.
  let streamID = Atomic<UInt32>(0)

  init(_ request: PreparedRequest, context: ExchangeContext, timeouts: Timeouts, owner: any ConnectionOwner) {
    self.request = request
    self.context = context
    self.timeouts = timeouts.with(context.values[ExchangeTimeouts.self], of: context.call.timeout)
    self.owner = owner
  }

  // MARK: Queries

  /// Whether the call requests a connection that was never used.
  var requestsNewConnection: Bool { context.values[NewConnectionKey.self] }

  /// Whether the exchange needs a connection that was never used: the call requests a new connection, or a reused
  /// connection was closed.
  var needsNewConnection: Bool { requestsNewConnection || shared.withLock { $0.state.needsNewConnection } }

  /// Whether the pool's limits delay the exchange.
  var isDelayedByLimits: Bool { shared.withLock { $0.isDelayedByLimits } }

  /// The time spent waiting for a connection; `nil` if there was no wait.
  var waitingTime: Duration? { shared.withLock { $0.queuedSince }.map { Duration(.now() - $0) } }

  /// Whether the request may be sent twice without harm.
  var isRepeatable: Bool { request.content.isReplayable && context.isRepeatable(request.head) }

  /// Whether the server has refused the request as misdirected (421).
  var wasMisdirected: Bool { shared.withLock { $0.state.wasMisdirected } }

  /// The current position: waiting for a connection, on a connection, or ended.
  var place: State.Position { shared.withLock { $0.state.place } }

  // MARK: Waiting for a connection

  /// Begins the exchange; the continuation is resumed exactly once. Returns `false` if the exchange has ended already.
  func begin(_ continuation: Continuation) -> Bool {
    shared.withLock { shared in
      guard shared.state.begun() else { return false }
      shared.continuation = continuation
      return true
    }
  }

  /// Records that the exchange waits for a connection.
  ///
  /// - Parameter isDelayedByLimits: whether no connection is being made for the exchange, because the pool has reached
  ///   a limit.
  func startedToWait(isDelayedByLimits: Bool) {
    shared.withLock { shared in
      shared.queuedSince = shared.queuedSince ?? .now()
      shared.isDelayedByLimits = isDelayedByLimits
    }
  }

  /// Stores the alarm that ends the wait for a connection. Returns `false` if the alarm is not needed.
  func keep(_ alarm: Scheduled<Void>?) -> Bool {
    shared.withLock { shared in
      // If the exchange was meanwhile assigned to a connection and removed again, the alarm of the later wait is used.
      guard case .queued = shared.state.place, shared.alarm == nil else { return false }
      shared.alarm = alarm
      return true
    }
  }

  /// Removes the exchange from its connection. Returns `false` if the exchange was removed for this reason before, or
  /// has ended.
  func requeue(_ reason: State.Return) -> Bool {
    shared.withLock { $0.state.requeued(reason) }
  }

  // MARK: On a connection

  /// Assigns the exchange to a connection. Returns `false` if the exchange has ended.
  func enter(_ connection: Connection) -> Bool {
    let (isWanted, alarm) = shared.withLock { shared -> (Bool, Scheduled<Void>?) in
      shared.state.entered(connection) ? (true, shared.takeAlarm()) : (false, nil)
    }
    alarm?.cancel()
    return isWanted
  }

  /// Records how the exchange got its connection.
  ///
  /// - Parameter info: the facts about the connection. Its age is added.
  func recordConnection(_ connection: Connection, isReused: Bool, _ info: ConnectionInfo) {
    var info = info
    let waited = waitingTime
    if isReused {
      info.age = Duration(.now() - connection.openedAt)
      if let waited { context.record(.phase(.queued, waited)) }
    } else {
      let timings = connection.timings
      if let waited, waited > timings.total { context.record(.phase(.queued, waited - timings.total)) }
      if let time = timings.lookup { context.record(.phase(.nameLookup, time)) }
      context.record(.phase(.connecting, timings.connect))
      if let time = timings.handshake { context.record(.phase(.tlsHandshake, time)) }
    }
    context.record(.connected(reused: isReused, info))
  }

  /// Delivers the head to the caller while the content still arrives.
  func deliverHead(_ response: ResponseMessage) {
    let continuation = shared.withLock { shared in
      let resumesCaller = shared.state.headDelivered()
      return shared.takeContinuation(resumesCaller)
    }
    continuation?.resume(returning: response)
  }

  // MARK: Ending

  /// Ends the exchange with a complete response, or with `nil` if the head was delivered before.
  func complete(_ response: ResponseMessage?) {
    let continuation = end(onlyWhileWaiting: false)?.1
    if let response { continuation?.resume(returning: response) }
  }

  /// Ends the exchange with a response that is complete. The caller may continue on the loop.
  func complete(_ response: Reception.Complete, on loop: (any EventLoop)?) {
    if let content = response.content {
      content.finish(trailers: response.trailers)
      return complete(nil)
    }
    let message = response.message
    // Decoding larger content would block the loop.
    guard response.collected.count <= Runtime.smallContent, let loop else { return complete(message) }
    owner.resume(on: loop) { complete(message) }
  }

  /// Cancels the exchange in any state.
  func cancel() {
    end { _ in CancellationError() }
  }

  /// Fails the exchange in any state.
  func fail(_ error: TransportError) {
    fail(error, onlyWhileWaiting: false)
  }

  /// Fails the exchange because it still waits for a connection at the end of the connection timeout.
  func waitedTooLong() {
    let limit = timeouts.connection.map { "\(Duration($0))" } ?? ""
    let error = TransportError(
      .timeout, in: .connecting, requestState: .notSent,
      detail: "no connection to \(request.origin.authority) within \(limit), the limit of connection")
    fail(error, onlyWhileWaiting: true)
  }

  /// Ends the attempt, unless the head of the response has arrived.
  func deadlinePassed() {
    fail(.attemptTimedOut(in: .connecting, requestState: .notSent), onlyWhileWaiting: true)
    switch place {
    // The exchange may just have been assigned to a connection, and the connection decides by the progress of the
    // response.
    case .on(let connection): connection.endAttempt(of: self)
    // The exchange has left its connection meanwhile, and waits for another connection.
    case .queued: deadlinePassed()
    case .nowhere, .over: break
    }
  }

  private func fail(_ error: TransportError, onlyWhileWaiting: Bool) {
    end(onlyWhileWaiting: onlyWhileWaiting) { ending in
      var error = error
      error.requestState = ending.requestState(error.requestState)
      guard error.code == .timeout, ending.place == .queued, isDelayedByLimits else { return error }
      error.detail += ": all connections that the limits permit are in use"
      return error.attributed(to: .trafficControl)
    }
  }

  /// Ends the exchange with an error. The exchange leaves its connection or the queue before the caller is resumed,
  /// because the caller may need the connection.
  private func end(onlyWhileWaiting: Bool = false, throwing error: (State.Ending) -> any Error) {
    guard let (ending, continuation) = end(onlyWhileWaiting: onlyWhileWaiting) else { return }
    // Records in the trace that the call waited for a connection, not for the server.
    if ending.place == .queued, isDelayedByLimits, let waitingTime {
      context.record(.phase(.queued, waitingTime))
    }
    switch ending.place {
    case .nowhere, .over: break
    case .queued: owner.withdraw(self)
    case .on(let connection): connection.abandon(self)
    }
    continuation?.resume(throwing: error(ending))
  }

  /// Ends the exchange. Returns its last position, from which it must be removed, and the continuation to resume
  /// afterwards; `nil` if nothing changes.
  ///
  /// - Parameter onlyWhileWaiting: whether to change nothing unless the exchange waits for a connection.
  private func end(onlyWhileWaiting: Bool) -> (State.Ending, Continuation?)? {
    let ended = shared.withLock { shared -> (State.Ending, Continuation?, Scheduled<Void>?)? in
      guard let ending = shared.state.ended(onlyWhileWaiting: onlyWhileWaiting) else { return nil }
      return (ending, shared.takeContinuation(ending.resumesCaller), shared.takeAlarm())
    }
    guard let (ending, continuation, alarm) = ended else { return nil }
    alarm?.cancel()
    return (ending, continuation)
  }
}

extension Exchange: Hashable {
  static func == (lhs: Exchange, rhs: Exchange) -> Bool { lhs === rhs }

  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

#if NIO
  import ApusCore
  import NIOCore
  import Synchronization

  /// One exchange as its caller sees it: who waits, and where the exchange is.
  ///
  /// What happens on the wire is the connection's business. This is the part that two sides touch, the caller's task,
  /// which may be cancelled at any time, and the connection's event loop; whoever comes first ends it.
  final class Exchange: DeadlineTarget {
    typealias Waiter = CheckedContinuation<ResponseMessage, any Error>

    private struct Shared {
      var state = ExchangeState<Connection>()
      var waiter: Waiter?
      /// Since when it has waited for a connection; `nil`: it did not have to.
      var queuedSince: NIODeadline?
      /// Whether none was being made for it when it began to wait: the limits of the pool hold it up.
      var isHeldUp = false
      /// Rings when it has waited for a connection for as long as its call allows.
      var alarm: Scheduled<Void>?

      mutating func takeWaiter(_ isTold: Bool) -> Waiter? {
        guard isTold else { return nil }
        defer { waiter = nil }
        return waiter
      }

      mutating func takeAlarm() -> Scheduled<Void>? {
        defer { alarm = nil }
        return alarm
      }
    }

    let request: PreparedRequest
    let context: ExchangeContext
    let timeouts: Timeouts
    private let core: TransportCore
    private let shared = Mutex(Shared())

    init(_ request: PreparedRequest, context: ExchangeContext, core: TransportCore) {
      self.request = request
      self.context = context
      timeouts = core.timeouts.with(context.values[ExchangeTimeouts.self], of: context.call.timeout)
      self.core = core
    }

    /// Whether its call asks for a connection that nothing was sent on before.
    var wantsNewConnection: Bool { context.values[NewConnectionKey.self] }

    /// Whether it found its connection closed or its call asks for that, and so needs one that nothing was sent on before.
    var needsNewConnection: Bool { wantsNewConnection || shared.withLock { $0.state.needsNewConnection } }

    private var isHeldUp: Bool { shared.withLock { $0.isHeldUp } }

    /// How long it has waited for its connection; `nil`: not at all.
    var waitingTime: Duration? { shared.withLock { $0.queuedSince }.map { Duration(.now() - $0) } }

    /// There is no connection for it yet.
    ///
    /// - Parameter isHeldUp: whether none is being made for it, since the pool has as many as it may.
    func hasToWait(isHeldUp: Bool) {
      shared.withLock { shared in
        shared.queuedSince = shared.queuedSince ?? .now()
        shared.isHeldUp = isHeldUp
      }
    }

    /// Whether its request may go out twice without harm.
    var isRepeatable: Bool { request.content.isReplayable && context.isRepeatable(request.head) }

    // MARK: From the caller

    /// Begins; `waiter` is answered exactly once.
    func begin(_ waiter: Waiter) {
      let isWanted = shared.withLock { shared in
        guard shared.state.begun() else { return false }
        shared.waiter = waiter
        return true
      }
      guard isWanted else { return waiter.resume(throwing: CancellationError()) }
      goOut()
    }

    /// Waits for a connection: the first, or another in the place of one that was closed.
    func goOut(again: Bool = false) {
      core.acquire(self, again: again)
      if let limit = timeouts.connection { limitWaiting(to: limit) }
    }

    private func limitWaiting(to limit: TimeAmount) {
      let alarm = core.loops.next()?.scheduleTask(in: limit) { self.waitedTooLong() }
      let superfluous = shared.withLock { shared -> Scheduled<Void>? in
        // It may have gone out and come back meanwhile: then the limit of that wait holds.
        guard case .queued = shared.state.place, shared.alarm == nil else { return alarm }
        shared.alarm = alarm
        return nil
      }
      superfluous?.cancel()
    }

    private func waitedTooLong() {
      let limit = timeouts.connection.map { "\(Duration($0))" } ?? ""
      let error = TransportError(
        .timedOut(.connecting), requestState: .notSent,
        detail: "no connection to \(request.origin.authority) within \(limit), the limit of connection")
      fail(error, onlyWhileWaiting: true)
    }

    /// The time of its attempt is up: it ends, unless the head of the answer is there.
    func deadlinePassed() {
      fail(.attemptTimedOut(in: .connecting, requestState: .notSent), onlyWhileWaiting: true)
      switch shared.withLock({ $0.state.place }) {
      // It may have got its connection a moment before. Only that knows how far it is.
      case .on(let connection): connection.endAttempt(of: self)
      // It has lost that meanwhile, and waits for another.
      case .queued: deadlinePassed()
      case .nowhere, .over: break
      }
    }

    /// Ends it wherever it is; a connection it is on is closed.
    func cancel() {
      end { _ in CancellationError() }
    }

    /// There will be no answer.
    ///
    /// - Parameter onlyWhileWaiting: whether to leave it alone where it has a connection. Default: no.
    func fail(_ error: TransportError, onlyWhileWaiting: Bool = false) {
      end(onlyWhileWaiting: onlyWhileWaiting) { ending in
        var error = error
        error.requestState = ending.requestState(error.requestState)
        guard case .timedOut = error.kind, ending.place == .queued, isHeldUp else { return error }
        error.detail += ": others use all that there may be"
        return error.about(.control)
      }
    }

    /// Takes it from where it is before whoever waits is told, who may need the room.
    private func end(
      onlyWhileWaiting: Bool = false, throwing error: (ExchangeState<Connection>.Ending) -> any Error
    ) {
      guard let (ending, waiter) = settle(onlyWhileWaiting: onlyWhileWaiting) else { return }
      // So that the call is known to have waited on this side.
      if ending.place == .queued, isHeldUp, let waitingTime { context.record(.phase(.queued, waitingTime)) }
      switch ending.place {
      case .nowhere, .over: break
      case .queued: core.withdraw(self)
      case .on(let connection): connection.abandon(self)
      }
      waiter?.resume(throwing: error(ending))
    }

    /// Ends it: where it was, and who is to be told.
    private func settle(onlyWhileWaiting: Bool = false) -> (ExchangeState<Connection>.Ending, Waiter?)? {
      let settled = shared.withLock { shared -> (ExchangeState<Connection>.Ending, Waiter?, Scheduled<Void>?)? in
        guard let ending = shared.state.ended(onlyWhileWaiting: onlyWhileWaiting) else { return nil }
        return (ending, shared.takeWaiter(ending.tells), shared.takeAlarm())
      }
      guard let (ending, waiter, alarm) = settled else { return nil }
      alarm?.cancel()
      return (ending, waiter)
    }

    // MARK: From the connection

    /// Puts it on a connection; `false` when it is over.
    func enter(_ connection: Connection) -> Bool {
      let (isWanted, alarm) = shared.withLock { shared -> (Bool, Scheduled<Void>?) in
        shared.state.entered(connection) ? (true, shared.takeAlarm()) : (false, nil)
      }
      alarm?.cancel()
      return isWanted
    }

    /// Whether it is still on a connection that it was put on.
    func isOn(_ connection: Connection) -> Bool {
      shared.withLock { $0.state.place == .on(connection) }
    }

    /// Takes it off a reused connection that was closed before any byte of the answer, to go to a new one; `false` when
    /// it did that already, may not, or is over.
    ///
    /// - Parameter wasWritten: whether any of it was written.
    func retry(wasWritten: Bool) -> Bool {
      guard core.options.retriesOnStaleConnection,
        shared.withLock({ $0.state.requeued(wasWritten: wasWritten) })
      else { return false }
      context.record(.resent)
      goOut(again: true)
      return true
    }

    /// Hands the head to whoever waits, while the content still arrives.
    func answer(_ response: ResponseMessage) {
      let waiter = shared.withLock { shared in
        let isTold = shared.state.answered()
        return shared.takeWaiter(isTold)
      }
      waiter?.resume(returning: response)
    }

    /// The answer is complete; `response` is what whoever waits is given, `nil` where the head was handed over.
    func finish(_ response: ResponseMessage?) {
      let waiter = settle()?.1
      if let response { waiter?.resume(returning: response) }
    }
  }

  extension Exchange: Hashable {
    static func == (lhs: Exchange, rhs: Exchange) -> Bool { lhs === rhs }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
  }
#endif

#if NIO
  import ApusCore
  import NIOCore
  import Synchronization

  /// One exchange as its caller sees it: who waits, and where the exchange is.
  ///
  /// What happens on the wire is the connection's business. This is the part that two sides touch, the caller's task,
  /// which may be cancelled at any time, and the connection's event loop; whoever comes first ends it.
  final class Exchange: Sendable {
    typealias Waiter = CheckedContinuation<ResponseMessage, any Error>

    private enum Place {
      /// Nobody has begun it.
      case nowhere
      /// It waits for a connection.
      case queued
      case on(Connection)
      case over
    }

    private struct State {
      var place = Place.nowhere
      var waiter: Waiter?
      var hasRetried = false
      /// Whether it was written to the connection that was closed, so that the server may have it.
      var wasWritten = false
      /// Since when it has waited for a connection; `nil`: it did not have to.
      var queuedSince: NIODeadline?
      /// Rings when it has waited for a connection for as long as its call allows.
      var alarm: Scheduled<Void>?

      mutating func end() {
        place = .over
        waiter = nil
        alarm = nil
      }

      mutating func takeWaiter() -> Waiter? {
        defer { waiter = nil }
        return waiter
      }
    }

    let request: PreparedRequest
    let context: CallContext
    let timeouts: Timeouts
    private let core: TransportCore
    private let state = Mutex(State())

    init(_ request: PreparedRequest, context: CallContext, core: TransportCore) {
      self.request = request
      self.context = context
      timeouts = core.timeouts.with(context.values[ExchangeTimeouts.self])
      self.core = core
    }

    /// Whether it found its connection closed, and so needs one that nothing was sent on before.
    var needsNewConnection: Bool { state.withLock { $0.hasRetried } }

    /// How long it has waited for its connection; `nil`: not at all.
    var waitingTime: Duration? { state.withLock { $0.queuedSince }.map { Duration(.now() - $0) } }

    /// There is no connection for it yet.
    func hasToWait() {
      state.withLock { $0.queuedSince = $0.queuedSince ?? .now() }
    }

    // MARK: From the caller

    /// Begins; `waiter` is answered exactly once.
    func begin(_ waiter: Waiter) {
      let isWanted = state.withLock { state in
        guard case .nowhere = state.place else { return false }
        state.place = .queued
        state.waiter = waiter
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
      let isSuperfluous = state.withLock { state in
        guard case .queued = state.place else { return true }
        state.alarm = alarm
        return false
      }
      if isSuperfluous { alarm?.cancel() }
    }

    private func waitedTooLong() {
      let error = TransportError(
        .timedOut(.connecting), requestState: .notSent, detail: "waiting for a connection took too long")
      refuse(error, onlyWhileWaiting: true)
    }

    /// Ends it wherever it is; a connection it is on is closed.
    func cancel() {
      end(throwing: CancellationError())
    }

    /// - Parameter onlyWhileWaiting: whether to leave it alone where it has a connection. Default: no.
    func end(throwing error: any Error, onlyWhileWaiting: Bool = false) {
      let before = state.withLock { state -> State? in
        if onlyWhileWaiting { guard case .queued = state.place else { return nil } }
        defer { state.end() }
        return state
      }
      guard let before else { return }
      before.alarm?.cancel()
      switch before.place {
      case .nowhere, .over: break
      case .queued: core.withdraw(self)
      case .on(let connection): connection.abandon(self)
      }
      before.waiter?.resume(throwing: error)
    }

    // MARK: From the connection

    /// Puts it on a connection; `false` when it is over.
    func enter(_ connection: Connection) -> Bool {
      let (isWanted, alarm) = state.withLock { state -> (Bool, Scheduled<Void>?) in
        guard case .queued = state.place else { return (false, nil) }
        defer { state.alarm = nil }
        state.place = .on(connection)
        return (true, state.alarm)
      }
      alarm?.cancel()
      return isWanted
    }

    /// Whether it is still on a connection that it was put on.
    func isOn(_ connection: Connection) -> Bool {
      state.withLock { state in
        guard case .on(let own) = state.place else { return false }
        return own === connection
      }
    }

    /// Takes it off a reused connection that was closed before any byte of the answer, to go to a new one; `false` when
    /// it did that already, may not, or is over.
    ///
    /// - Parameter wasWritten: whether any of it was written.
    func retry(wasWritten: Bool) -> Bool {
      guard core.options.retriesOnStaleConnection else { return false }
      let isClaimed = state.withLock { state in
        switch state.place {
        case .nowhere, .over: return false
        case .queued, .on:
          guard !state.hasRetried else { return false }
          (state.hasRetried, state.wasWritten, state.place) = (true, wasWritten, .queued)
          return true
        }
      }
      guard isClaimed else { return false }
      context.record(.resent)
      goOut(again: true)
      return true
    }

    /// Hands the head to whoever waits, while the content still arrives; `false` when nobody does.
    func answer(_ response: ResponseMessage) -> Bool {
      guard let waiter = state.withLock({ $0.takeWaiter() }) else { return false }
      waiter.resume(returning: response)
      return true
    }

    /// The exchange is done with its connection. Answers the waiter, if there still is one.
    func finish(_ result: Result<ResponseMessage, any Error>?) {
      let before = state.withLock { state in
        defer { state.end() }
        return state
      }
      before.alarm?.cancel()
      if let result { before.waiter?.resume(with: result) }
    }
  }

  extension Exchange {
    /// There is no connection for it, and there will be none.
    ///
    /// - Parameter onlyWhileWaiting: whether to leave it alone where it has a connection. Default: no.
    func refuse(_ error: TransportError, onlyWhileWaiting: Bool = false) {
      var error = error
      // It went out once already, on a connection that was closed then.
      if error.requestState == .notSent, state.withLock({ $0.wasWritten }) { error.requestState = .maybeSent }
      end(throwing: error, onlyWhileWaiting: onlyWhileWaiting)
    }
  }

  extension Exchange: Hashable {
    static func == (lhs: Exchange, rhs: Exchange) -> Bool { lhs === rhs }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
  }
#endif

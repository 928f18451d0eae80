import ApusCore
import Synchronization

/// The refreshes of one authentication's credentials, for all calls of all its clients: drives a ``RefreshState``.
final class Refresher: Sendable {
  typealias Work = @Sendable (RefreshContext) async throws -> Tokens
  typealias Waiter = RefreshState.Waiter

  /// The outcome of a wait for a refresh.
  enum Outcome: Sendable {
    case look
    case failed(Failure)
  }

  /// The reason why the credentials of a generation could not be replaced.
  struct Failure: Sendable {
    let generation: UInt64
    /// The principal of the credentials; `nil`: unknown.
    var principal: UInt64?
    let error: any Error
    /// The current generation, if the session is over.
    var next: UInt64?
  }

  /// The next step of a call with its credentials.
  enum Progress: Sendable {
    /// Goes on: there is nothing to wait for.
    case go
    /// Reads the credentials again.
    case look
    /// Asks again: the token endpoint's cool-down is over.
    case rested
  }

  /// The error of the last refresh, and the number of cool-downs that a call has waited for.
  private struct Patience {
    let failure: Failure?
    let rests: Int
  }

  /// The observation of the store.
  struct Watch {
    /// The call that began it.
    let context: CallContext
    let observation: UInt64
  }

  struct Shared {
    var state = RefreshState()
    var waiters = WaiterTable<Waiter, Outcome>()
    var nextWaiter: Waiter = 0
    var window = RefreshWindow()
    /// The last refresh's failure. A rejection of freshly refreshed credentials is not a failure.
    var failure: Failure?
    /// Tokens that were issued in place of this generation and are not stored yet, and the instant when they arrived.
    var unstored: (generation: UInt64, tokens: Tokens, since: MonotonicInstant)?
    /// The origin where this principal's tokens were first used, in that generation. Only calls to this origin refresh
    /// them.
    var home: (principal: UInt64, generation: UInt64, origin: Origin)?
    /// The numbers of the refreshes that are changing the store.
    var settling: Set<UInt64> = []
    var watch: Watch?
  }

  /// The maximum number of cool-downs that a call waits for, and the maximum duration of each.
  private static let rests = (count: 3, longest: Duration.seconds(5))

  let source: any RefreshableCredentialsStore
  let limit: Duration
  let work: Work
  let shared = Mutex(Shared())
  /// A copy of ``RefreshState/awaitsAcceptance`` that needs no lock.
  private let awaitsAcceptance = Atomic(false)

  init(_ source: any RefreshableCredentialsStore, limit: Duration, _ work: @escaping Work) {
    self.source = source
    self.limit = limit
    self.work = work
  }

  // MARK: Calls

  /// Waits, before a message is sent, until there are usable credentials.
  ///
  /// - Parameter rests: the number of cool-downs that the call has waited for.
  /// - Throws: the error of the refresh; `CancellationError`.
  func prepare(_ subject: RefreshSubject, after rests: Int) async throws -> Progress {
    guard isAtHome(subject, isFirst: true) else { return .go }
    let (waiter, decision, failure) = decide(subject) { shared, waiter in
      let freshness = shared.window.freshness(of: subject.stored, random: subject.context.random)
      let now = subject.context.now
      return shared.state.needs(subject.generation, freshness, waiter: waiter, now: now)
    }
    if case .fail = decision {
      guard let failure else { throw RefreshFailure.unknown }
      throw failed(failure, subject)
    }
    return try await act(on: decision, as: waiter, subject, Patience(failure: failure, rests: rests))
  }

  /// Waits, after a server rejected a message, until there are other credentials.
  ///
  /// - Parameters:
  ///   - current: the current generation.
  ///   - rests: the number of cool-downs that the call has waited for.
  /// - Returns: ``Progress/go`` if there will be no other credentials soon.
  /// - Throws: the error of the refresh; `CancellationError`.
  func rejected(_ subject: RefreshSubject, current: UInt64, after rests: Int) async throws -> Progress {
    guard isAtHome(subject, isFirst: false) else { return .go }
    let (waiter, decision, failure) = decide(subject) { shared, waiter in
      shared.state.rejected(subject.generation, current: current, waiter: waiter, now: subject.context.now)
    }
    switch decision {
    case .go, .goWhile: return .look
    case .wait, .waitFor, .rest:
      return try await act(on: decision, as: waiter, subject, Patience(failure: failure, rests: rests))
    case .fail:
      // A rejection of freshly refreshed credentials is the call's result.
      guard let failure else { return .go }
      throw failed(failure, subject)
    }
  }

  /// Notes that a server rejected freshly refreshed credentials.
  ///
  /// - Parameter current: the current generation.
  func rejectedAgain(_ stored: StoredCredential, current: UInt64, _ context: CallContext) {
    shared.withLock { shared in
      shared.state.rejectedAfterRefresh(stored.generation, current: current, now: context.now)
      awaitsAcceptance.store(shared.state.awaitsAcceptance, ordering: .relaxed)
    }
  }

  /// Notes that a server accepted credentials.
  func accepted(_ stored: StoredCredential) {
    guard awaitsAcceptance.load(ordering: .relaxed) else { return }
    shared.withLock { shared in
      shared.state.accepted(stored.generation)
      awaitsAcceptance.store(shared.state.awaitsAcceptance, ordering: .relaxed)
    }
  }

  /// Notes a sign-out; `generation` is the current generation. Waits for older generations end.
  func replaced(by generation: UInt64) {
    resolve { shared in
      if let failure = shared.failure, failure.generation < generation { shared.failure = nil }
      if let unstored = shared.unstored, unstored.generation < generation { shared.unstored = nil }
      return (shared.state.replaced(by: generation), .look)
    }
  }

  /// The error that ended a principal's session; `nil`: no refresh is known to have ended it.
  func sessionEnd(of principal: UInt64) -> (any Error)? {
    shared.withLock { shared in
      guard let failure = shared.failure, failure.next != nil, failure.principal == principal else { return nil }
      return failure.error
    }
  }

  /// Whether calls in the call's environment may refresh the tokens: its server is one of the origins that the app has
  /// set, or else the origin where the tokens were first used. So a refresh token is not sent to a second server
  /// because the authentication is used in two environments.
  private func isAtHome(_ subject: RefreshSubject, isFirst: Bool) -> Bool {
    guard let origin = subject.context.environment.baseURL.origin else { return false }
    if let origins = subject.account.origins { return origins.contains(origin) }
    let stored = subject.stored
    return shared.withLock { shared in
      // A late call with an old generation does not change the origin.
      if isFirst, shared.home.map({ $0.principal != stored.principal && $0.generation < stored.generation }) ?? true {
        shared.home = (stored.principal, stored.generation, origin)
      }
      return shared.home.map { $0.principal == stored.principal && $0.origin == origin } ?? false
    }
  }

  // MARK: Waiting

  /// - Returns: the decision, and the failure of the last refresh.
  private func decide(
    _ subject: RefreshSubject, _ decision: (inout Shared, Waiter) -> RefreshState.Decision
  ) -> (Waiter, RefreshState.Decision, Failure?) {
    shared.withLock { shared in
      let waiter = shared.nextWaiter
      shared.nextWaiter += 1
      let decision = decision(&shared, waiter)
      switch decision {
      case .wait, .waitFor: shared.waiters.register(waiter)
      case .go, .goWhile, .rest, .fail: break
      }
      let failure = shared.failure.flatMap { $0.generation == subject.generation ? $0 : nil }
      return (waiter, decision, failure)
    }
  }

  /// The error of a call whose credentials could not be refreshed. Each client reports the session's end to its app.
  private func failed(_ failure: Failure, _ subject: RefreshSubject) -> any Error {
    if let next = failure.next { subject.account.sessionEnded(subject, next: next) }
    return failure.error
  }

  private func act(
    on decision: RefreshState.Decision, as waiter: Waiter, _ subject: RefreshSubject, _ patience: Patience
  ) async throws -> Progress {
    switch decision {
    case .go, .fail: return .go
    case .goWhile(let flight):
      begin(flight, for: subject)
      return .go
    case .wait, .rest: break
    case .waitFor(let flight): begin(flight, for: subject)
    }
    subject.context.record(.awaitingCredentials(generation: subject.generation))
    // The refresh may need the permit that this call holds.
    return try await subject.context.withoutPermit {
      defer { unwatch() }
      if case .rest(let instant) = decision { return try await rest(until: instant, subject, patience) }
      guard case .failed(let failure) = try await outcome(of: waiter, subject.context) else { return .look }
      let instant = shared.withLock { $0.state.rest(of: subject.generation, now: subject.context.now) }
      guard let instant else { throw failed(failure, subject) }
      return try await rest(until: instant, subject, Patience(failure: failure, rests: patience.rests))
    }
  }

  /// Waits for the end of the token endpoint's cool-down, if it is soon and within the call's deadline.
  ///
  /// - Returns: ``Progress/look`` if the credentials were replaced or removed in the meantime.
  /// - Throws: the error of the last refresh if the cool-down ends later; `CancellationError`.
  private func rest(
    until instant: MonotonicInstant, _ subject: RefreshSubject, _ patience: Patience
  ) async throws -> Progress {
    let context = subject.context
    let pause = context.now.duration(to: instant)
    guard patience.rests < Self.rests.count, pause <= Self.rests.longest,
      context.nearestDeadline.map({ instant < $0 }) ?? true
    else { throw patience.failure.map { failed($0, subject) } ?? RefreshFailure.unknown }
    context.record(.note("waits to refresh again, ms", pause.milliseconds))
    let waiter = shared.withLock { shared in
      defer { shared.nextWaiter += 1 }
      shared.waiters.register(shared.nextWaiter)
      shared.state.rests(shared.nextWaiter, for: subject.generation)
      return shared.nextWaiter
    }
    watch(context)
    return try await withThrowingTaskGroup(of: Progress.self) { group in
      group.addTask {
        try await context.clock.sleep(until: instant)
        return .rested
      }
      group.addTask {
        _ = try await self.outcome(of: waiter, context)
        return .look
      }
      defer { group.cancelAll() }
      return try await group.next() ?? .rested
    }
  }

  private func outcome(of waiter: Waiter, _ context: CallContext) async throws -> Outcome {
    let alarm = context.alarm(for: WaitLimit { self.giveUp(waiter) })
    defer { alarm?.cancel() }
    return try await withWaiter { continuation in
      shared.withLock { $0.waiters.suspend(waiter, continuation) }
    } onCancel: {
      let cancelled = shared.withLock { shared in
        shared.state.left(waiter)
        return shared.waiters.cancel(waiter)
      }
      if case .suspended(let continuation) = cancelled { continuation.resume(throwing: CancellationError()) }
    }
  }

  /// Ends the wait of a call whose attempt's limit has passed. The refresh goes on for other calls.
  fileprivate func giveUp(_ waiter: Waiter) {
    let resumption = shared.withLock { shared -> WaiterTable<Waiter, Outcome>.Resumption? in
      guard shared.waiters.isPending(waiter) else { return nil }
      shared.state.left(waiter)
      return shared.waiters.resolve(
        waiter, with: .failed(Failure(generation: 0, error: RefreshFailure.attemptOver)))
    }
    resumption?.resume()
  }

  /// Performs a step of the state machine, and ends the waits that it resolves.
  func resolve(_ step: (inout Shared) -> (Set<Waiter>, Outcome)) {
    let resumptions = shared.withLock { shared in
      let (waiters, outcome) = step(&shared)
      return waiters.sorted().compactMap { shared.waiters.resolve($0, with: outcome) }
    }
    for resumption in resumptions { resumption.resume() }
  }
}

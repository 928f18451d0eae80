import ApusCore
import Synchronization

/// A driver of the refreshes of one authentication's credentials, for all calls of all its clients. The rules are in
/// ``RefreshState``.
final class Refresher: Sendable {
  typealias Work = @Sendable (RefreshContext) async throws -> Tokens
  typealias Waiter = RefreshState.Waiter

  /// The outcome of ``prepare(_:after:)`` and ``awaitRenewal(of:current:after:)``.
  enum Outcome: Sendable {
    /// There is no refresh to wait for. The call sends its message with these credentials; after a rejection, the
    /// rejection is the call's response.
    case noWait
    /// The credentials may have been replaced: the call reads them again.
    case replaced
    /// The token endpoint's cool-down has ended: the call reads the credentials again and consults ``RefreshState``
    /// again.
    case coolDownEnded
  }

  /// A decision about a call, and the values that the call needs to act on it.
  private struct Plan {
    let waiter: Waiter
    let decision: RefreshState.Decision
    /// The last failure to refresh the call's credentials.
    var failure: RefreshFailure?
  }

  /// An observation of the store.
  struct Observation {
    /// The context of the call that began the observation.
    let context: CallContext
    let number: UInt64
  }

  struct Shared {
    var state = RefreshState()
    /// The waiters of a refresh that succeeds get `nil`.
    var waiters = WaiterTable<Waiter, RefreshFailure?>()
    var nextWaiter: Waiter = 0
    var window = RefreshWindow()
    /// The last refresh's failure. A rejection of freshly refreshed credentials is not a failure.
    var failure: RefreshFailure?
    /// Tokens that replace this generation and are not stored yet, and the instant when they arrived.
    var unstored: (generation: UInt64, tokens: Tokens, since: MonotonicInstant)?
    /// The origin where this principal's tokens were first used, and their generation at that time. Only calls to this
    /// origin refresh the tokens.
    var firstUse: (principal: UInt64, generation: UInt64, origin: Origin)?
    /// The numbers of the refreshes that are changing the store.
    var storing: Set<UInt64> = []
    var observation: Observation?
  }

  /// The maximum number of cool-downs that a call waits for, and the maximum duration of each.
  private static let coolDowns = (maximum: 3, maximumDuration: Duration.seconds(5))

  let store: any RefreshableCredentialsStore
  let timeout: Duration
  let work: Work
  let shared = Mutex(Shared())
  /// A copy of ``RefreshState/awaitsAcceptance`` that is read without the lock.
  private let awaitsAcceptance = Atomic(false)

  init(_ store: any RefreshableCredentialsStore, timeout: Duration, _ work: @escaping Work) {
    self.store = store
    self.timeout = timeout
    self.work = work
  }

  // MARK: Calls

  /// Waits, before a message is sent, until there are usable credentials.
  ///
  /// - Parameter coolDowns: the number of cool-downs that the call has waited for.
  /// - Throws: the error of the refresh; `CancellationError`.
  func prepare(_ credential: CallCredential, after coolDowns: Int) async throws -> Outcome {
    let plan = plan(credential, isFirstUse: true) { shared, waiter in
      let freshness = shared.window.freshness(of: credential.stored, random: credential.context.random)
      return shared.state.prepare(
        credential.stored.generation, freshness, waiter: waiter, now: credential.context.now)
    }
    guard let plan else { return .noWait }
    switch plan.decision {
    case .send: return .noWait
    case .sendAndRefresh(let flight):
      begin(flight, for: credential)
      return .noWait
    case .wait, .startRefresh, .waitForCoolDown: return try await wait(plan, credential, after: coolDowns)
    case .fail: throw plan.failure.map { credential.error(reporting: $0) } ?? RefreshFailure.unknown
    }
  }

  /// Waits, after a server rejected a message, until there are other credentials.
  ///
  /// - Parameters:
  ///   - current: the current generation.
  ///   - coolDowns: the number of cool-downs that the call has waited for.
  /// - Throws: the error of the refresh; `CancellationError`.
  func awaitRenewal(
    of credential: CallCredential, current: UInt64, after coolDowns: Int
  ) async throws -> Outcome {
    let plan = plan(credential, isFirstUse: false) { shared, waiter in
      shared.state.rejected(
        credential.stored.generation, current: current, waiter: waiter, now: credential.context.now)
    }
    guard let plan else { return .noWait }
    switch plan.decision {
    case .send, .sendAndRefresh: return .replaced
    case .wait, .startRefresh, .waitForCoolDown: return try await wait(plan, credential, after: coolDowns)
    case .fail:
      // A rejection of freshly refreshed credentials is the call's result.
      guard let failure = plan.failure else { return .noWait }
      throw credential.error(reporting: failure)
    }
  }

  /// Records that a server rejected freshly refreshed credentials.
  ///
  /// - Parameter current: the current generation.
  func rejectedAfterRefresh(_ stored: StoredCredential, current: UInt64, _ context: CallContext) {
    shared.withLock { shared in
      shared.state.rejectedAfterRefresh(stored.generation, current: current, now: context.now)
      awaitsAcceptance.store(shared.state.awaitsAcceptance, ordering: .relaxed)
    }
  }

  /// Records that a server accepted credentials.
  func accepted(_ stored: StoredCredential) {
    guard awaitsAcceptance.load(ordering: .relaxed) else { return }
    shared.withLock { shared in
      shared.state.accepted(stored.generation)
      awaitsAcceptance.store(shared.state.awaitsAcceptance, ordering: .relaxed)
    }
  }

  /// Records a sign-out; `generation` is the current generation. Waits for older generations end.
  func replaced(by generation: UInt64) {
    resume(with: nil) { shared in
      if let failure = shared.failure, failure.generation < generation { shared.failure = nil }
      if let unstored = shared.unstored, unstored.generation < generation { shared.unstored = nil }
      return shared.state.replaced(by: generation)
    }
  }

  /// Returns the error that ended a principal's session; `nil` if no refresh is known to have ended the session.
  func sessionEnd(of principal: UInt64) -> (any Error)? {
    shared.withLock { shared in
      guard let failure = shared.failure, failure.endedSession?.principal == principal else { return nil }
      return failure.error
    }
  }

  /// Decides about a call with its credentials.
  ///
  /// - Parameter isFirstUse: whether a new principal's tokens are bound to the call's origin.
  /// - Returns: the plan; `nil` if calls in the call's environment may not refresh the tokens.
  private func plan(
    _ credential: CallCredential, isFirstUse: Bool, _ decide: (inout Shared, Waiter) -> RefreshState.Decision
  ) -> Plan? {
    guard let origin = credential.context.environment.baseURL.origin else { return nil }
    let origins = credential.authentication.parts.origins
    if let origins, !origins.contains(origin) { return nil }
    return shared.withLock { shared in
      if origins == nil, !shared.mayRefresh(credential.stored, at: origin, isFirstUse: isFirstUse) { return nil }
      let waiter = shared.nextWaiter
      shared.nextWaiter += 1
      let decision = decide(&shared, waiter)
      switch decision {
      case .wait, .startRefresh: shared.waiters.register(waiter)
      case .send, .sendAndRefresh, .waitForCoolDown, .fail: break
      }
      let failure = shared.failure.flatMap { $0.generation == credential.stored.generation ? $0 : nil }
      return Plan(waiter: waiter, decision: decision, failure: failure)
    }
  }

  // MARK: Waiting

  private func wait(_ plan: Plan, _ credential: CallCredential, after coolDowns: Int) async throws -> Outcome {
    if case .startRefresh(let flight) = plan.decision { begin(flight, for: credential) }
    let (context, generation) = (credential.context, credential.stored.generation)
    context.record(.awaitingCredentials(generation: generation))
    // The refresh may need the permit that this call holds.
    return try await context.withoutPermit {
      defer { endIdleObservation() }
      var failure = plan.failure
      var coolDownEnd: MonotonicInstant?
      if case .waitForCoolDown(let end) = plan.decision {
        coolDownEnd = end
      } else {
        guard let newFailure = try await result(of: plan.waiter, context) else { return .replaced }
        failure = newFailure
        coolDownEnd = shared.withLock { $0.state.coolDownEnd(of: generation, now: context.now) }
      }
      if coolDowns < Self.coolDowns.maximum, let coolDownEnd,
        context.now.duration(to: coolDownEnd) <= Self.coolDowns.maximumDuration,
        context.nearestDeadline.map({ coolDownEnd < $0 }) ?? true
      {
        return try await waitForCoolDown(until: coolDownEnd, of: generation, context)
      }
      throw failure.map { credential.error(reporting: $0) } ?? RefreshFailure.unknown
    }
  }

  /// Waits for the end of the token endpoint's cool-down.
  ///
  /// - Returns: ``Outcome/replaced`` if the credentials were replaced or removed in the meantime.
  /// - Throws: `CancellationError`.
  private func waitForCoolDown(
    until end: MonotonicInstant, of generation: UInt64, _ context: CallContext
  ) async throws -> Outcome {
    context.record(.note("waits to refresh again, ms", context.now.duration(to: end).milliseconds))
    let waiter = shared.withLock { shared in
      defer { shared.nextWaiter += 1 }
      shared.waiters.register(shared.nextWaiter)
      shared.state.waitsForCoolDown(shared.nextWaiter, of: generation)
      return shared.nextWaiter
    }
    observeStore(for: context)
    return try await withThrowingTaskGroup(of: Outcome.self) { group in
      group.addTask {
        try await context.clock.sleep(until: end)
        return .coolDownEnded
      }
      group.addTask {
        _ = try await self.result(of: waiter, context)
        return .replaced
      }
      defer { group.cancelAll() }
      return try await group.next() ?? .coolDownEnded
    }
  }

  /// Waits for a refresh, or for a change of the store. Returns the failure; `nil` if the credentials were replaced.
  private func result(of waiter: Waiter, _ context: CallContext) async throws -> RefreshFailure? {
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

  /// Ends the wait of a call whose attempt has exceeded its timeout. The refresh continues for other calls.
  private func giveUp(_ waiter: Waiter) {
    let resumption = shared.withLock { shared -> WaiterTable<Waiter, RefreshFailure?>.Resumption? in
      guard shared.waiters.isPending(waiter) else { return nil }
      shared.state.left(waiter)
      return shared.waiters.resolve(waiter, with: RefreshFailure(generation: 0, error: RefreshFailure.attemptTimedOut))
    }
    resumption?.resume()
  }

  /// Changes the state and resumes the waiters that `change` returns. The waiters receive the failure; for `nil` they
  /// read the credentials again.
  func resume(with failure: RefreshFailure?, after change: (inout Shared) -> Set<Waiter>) {
    let resumptions = shared.withLock { shared in
      change(&shared).sorted().compactMap { shared.waiters.resolve($0, with: failure) }
    }
    for resumption in resumptions { resumption.resume() }
  }
}

extension Refresher.Shared {
  /// Whether calls in an environment with an origin may refresh the tokens. Only the origin where the tokens were first
  /// used is allowed, so that a refresh token is not sent to a second server if two environments use one
  /// authentication.
  fileprivate mutating func mayRefresh(_ stored: StoredCredential, at origin: Origin, isFirstUse: Bool) -> Bool {
    // A late call with an old generation does not change the origin.
    if isFirstUse,
      firstUse.map({ $0.principal != stored.principal && $0.generation < stored.generation }) ?? true
    {
      firstUse = (stored.principal, stored.generation, origin)
    }
    return firstUse.map { $0.principal == stored.principal && $0.origin == origin } ?? false
  }
}

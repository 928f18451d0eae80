import ApusCore
import Synchronization

/// The refreshes of one authentication's credentials, for all calls of all its clients: drives a ``RefreshState``.
final class Refresher: Sendable {
  typealias Work = @Sendable (Refresh) async throws -> Tokens
  typealias Waiter = RefreshState.Waiter

  /// How the wait for a refresh ends.
  enum Outcome: Sendable {
    case look
    case failed(Failure)
  }

  /// Why the credentials of a generation could not be replaced.
  struct Failure: Sendable {
    let generation: UInt64
    /// The principal of the credentials; `nil`: unknown.
    var principal: UInt64?
    let error: any Error
    /// The current generation, if the session is over.
    var next: UInt64?
  }

  /// What a call does next with its credentials.
  enum Progress {
    /// Goes on: there is nothing to wait for.
    case go
    /// Reads the credentials again.
    case look
    /// Asks again: the token endpoint's cool-down is over.
    case rested
  }

  /// The error of the last refresh, and how often a call has waited for the next one.
  private struct Patience {
    let failure: Failure?
    let rests: Int
  }

  struct Shared {
    var state = RefreshState()
    var waiters = WaiterTable<Waiter, Outcome>()
    var nextWaiter: Waiter = 0
    var window = RefreshWindow()
    /// The last refresh's failure; a rejection of freshly refreshed credentials is none.
    var failure: Failure?
    /// Tokens that were issued in place of this generation and are not stored yet, and when.
    var unstored: (generation: UInt64, tokens: Tokens, since: MonotonicInstant)?
    /// The origin where this principal's tokens were used first, in that generation. Only its calls refresh them.
    var home: (principal: UInt64, generation: UInt64, origin: Origin)?
  }

  /// How often a call waits for the end of a cool-down, and for how long at most each time.
  private static let rests = (count: 3, longest: Duration.seconds(5))

  let source: any RefreshableCredentialSource
  let limit: Duration
  let work: Work
  let shared = Mutex(Shared())
  /// A copy of ``RefreshState/awaitsAcceptance`` that needs no lock.
  private let awaitsAcceptance = Atomic(false)

  init(_ source: any RefreshableCredentialSource, limit: Duration, _ work: @escaping Work) {
    self.source = source
    self.limit = limit
    self.work = work
  }

  // MARK: Calls

  /// Waits, before a message is sent, until there are usable credentials.
  ///
  /// - Parameter rests: how often the call has waited for a cool-down already.
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
  ///   - rests: how often the call has waited for a cool-down already.
  /// - Returns: ``Progress/go`` if there will be none soon.
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

  /// Notes a sign-out; `generation` is the current one. No call waits for an older one any longer.
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

  /// Whether calls to the call's server may refresh the tokens: a server that the app has named, else the one where
  /// they were used first. So a refresh token is not sent to a second server because the authentication is used in two
  /// environments.
  private func isAtHome(_ subject: RefreshSubject, isFirst: Bool) -> Bool {
    guard let origin = subject.context.environment.baseURL.origin else { return false }
    if let origins = subject.account.origins { return origins.contains(origin) }
    let stored = subject.stored
    return shared.withLock { shared in
      // A late call with an old generation does not change it.
      if isFirst, shared.home.map({ $0.principal != stored.principal && $0.generation < stored.generation }) ?? true {
        shared.home = (stored.principal, stored.generation, origin)
      }
      return shared.home.map { $0.principal == stored.principal && $0.origin == origin } ?? false
    }
  }

  // MARK: Waiting

  /// - Returns: the decision, and why the last refresh failed.
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

  /// The error of a call that a failure keeps from its credentials. Each client tells its own app of the session's end.
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
      if case .rest(let instant) = decision { return try await rest(until: instant, subject, patience) }
      guard case .failed(let failure) = try await outcome(of: waiter, subject.context) else { return .look }
      let instant = shared.withLock { $0.state.rest(of: subject.generation, now: subject.context.now) }
      guard let instant else { throw failed(failure, subject) }
      return try await rest(until: instant, subject, Patience(failure: failure, rests: patience.rests))
    }
  }

  /// Waits for the end of the token endpoint's cool-down, if it is soon and within the call's deadline.
  ///
  /// - Throws: the error of the last refresh if it is not; `CancellationError`.
  private func rest(
    until instant: MonotonicInstant, _ subject: RefreshSubject, _ patience: Patience
  ) async throws -> Progress {
    let context = subject.context
    let pause = context.now.duration(to: instant)
    guard patience.rests < Self.rests.count, pause <= Self.rests.longest,
      context.nearestDeadline.map({ instant < $0 }) ?? true
    else { throw patience.failure.map { failed($0, subject) } ?? RefreshFailure.unknown }
    context.record(.note("waits to refresh again, ms", pause.milliseconds))
    try await context.clock.sleep(until: instant)
    return .rested
  }

  private func outcome(of waiter: Waiter, _ context: CallContext) async throws -> Outcome {
    let alarm = context.alarm(for: RefreshPatience(of: waiter, with: self))
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

  /// Takes a step of the state machine, and ends the waits that it resolves.
  func resolve(_ step: (inout Shared) -> (Set<Waiter>, Outcome)) {
    let resumptions = shared.withLock { shared in
      let (waiters, outcome) = step(&shared)
      return waiters.sorted().compactMap { shared.waiters.resolve($0, with: outcome) }
    }
    for resumption in resumptions { resumption.resume() }
  }
}

/// Ends a call's wait for a refresh when its attempt's limit passes.
private final class RefreshPatience: DeadlineTarget {
  private let waiter: Refresher.Waiter
  private let refresher: Refresher

  init(of waiter: Refresher.Waiter, with refresher: Refresher) {
    (self.waiter, self.refresher) = (waiter, refresher)
  }

  func deadlinePassed() {
    refresher.giveUp(waiter)
  }
}

import ApusCore
import Synchronization

/// Refreshes the credentials of one authentication, for all calls of all clients that use it: does what a
/// ``RefreshState`` decides.
final class Refresher: Sendable {
  typealias Work = @Sendable (Refresh) async throws -> Tokens
  typealias Waiter = RefreshState.Waiter

  /// What whoever waits is told, with the reason of a failure.
  enum Told: Sendable {
    case look
    case failed(Failure)
  }

  /// Why there are no other credentials than those of a generation.
  struct Failure: Sendable {
    let generation: UInt64
    /// Whose credentials they were; `nil`: nobody's in particular.
    var principal: UInt64?
    let error: any Error
    /// The session is over; the generation there is since.
    var next: UInt64?
  }

  /// How far a call has come with its credentials.
  enum Progress {
    /// There is nothing to wait for.
    case go
    /// There may be others by now.
    case look
    /// The token endpoint may be asked again.
    case rested
  }

  /// One who waits, from the decision on.
  enum Wait {
    /// It has not come to wait yet.
    case expected
    case waiting(CheckedContinuation<Told, any Error>)
    /// It was told before it came.
    case told(Told)
  }

  /// What the last refresh failed with, and how often a call has waited for the next one.
  private struct Patience {
    let failure: Failure?
    let rests: Int
  }

  struct Shared {
    var state = RefreshState()
    var waits: [Waiter: Wait] = [:]
    var nextWaiter: Waiter = 0
    var window = RefreshWindow()
    /// What the last refresh failed with; what was refused fresh from a refresh has no reason.
    var failure: Failure?
    /// What a server gave in the place of this generation, and when, until it is stored.
    var unstored: (generation: UInt64, tokens: Tokens, since: MonotonicInstant)?
    /// Where the tokens of this principal were used first, in that generation: there they are refreshed.
    var home: (principal: UInt64, generation: UInt64, origin: Origin)?
  }

  /// How often a call waits until a token endpoint that failed may be asked again, and how long at most each time.
  private static let rests = (count: 3, longest: Duration.seconds(5))

  let source: any RefreshableCredentialSource
  let limit: Duration
  let work: Work
  let shared = Mutex(Shared())
  /// ``RefreshState/awaitsAcceptance``, for whoever would lock for nothing.
  private let awaitsAcceptance = Atomic(false)

  init(_ source: any RefreshableCredentialSource, limit: Duration, _ work: @escaping Work) {
    self.source = source
    self.limit = limit
    self.work = work
  }

  // MARK: For a call

  /// Before a message leaves: waits where its credentials are no good any more until there are others.
  ///
  /// - Parameter rests: how often it has waited already for a token endpoint that failed.
  /// - Throws: what the refresh failed with; `CancellationError`.
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

  /// After a server refused a message: waits until there are other credentials.
  ///
  /// - Parameters:
  ///   - current: the generation there is by now.
  ///   - rests: how often it has waited already for a token endpoint that failed.
  /// - Returns: ``Progress/go`` where there will be no others soon.
  /// - Throws: what the refresh failed with; `CancellationError`.
  func refused(_ subject: RefreshSubject, current: UInt64, after rests: Int) async throws -> Progress {
    guard isAtHome(subject, isFirst: false) else { return .go }
    let (waiter, decision, failure) = decide(subject) { shared, waiter in
      shared.state.refused(subject.generation, current: current, waiter: waiter, now: subject.context.now)
    }
    switch decision {
    case .go, .goWhile: return .look
    case .wait, .waitFor, .rest:
      return try await act(on: decision, as: waiter, subject, Patience(failure: failure, rests: rests))
    case .fail:
      // What was refused fresh from a refresh is simply refused.
      guard let failure else { return .go }
      throw failed(failure, subject)
    }
  }

  /// A server refused what a refresh had just given.
  ///
  /// - Parameter current: the generation there is by now.
  func refusedAgain(_ stored: StoredCredential, current: UInt64, _ context: CallContext) {
    shared.withLock { shared in
      shared.state.refusedAfterRefresh(stored.generation, current: current, now: context.now)
      awaitsAcceptance.store(shared.state.awaitsAcceptance, ordering: .relaxed)
    }
  }

  /// A server accepted credentials.
  func accepted(_ stored: StoredCredential) {
    guard awaitsAcceptance.load(ordering: .relaxed) else { return }
    shared.withLock { shared in
      shared.state.accepted(stored.generation)
      awaitsAcceptance.store(shared.state.awaitsAcceptance, ordering: .relaxed)
    }
  }

  /// Somebody signed out, and `generation` is the one there is since: nobody waits for an older one any more.
  func replaced(by generation: UInt64) {
    tell { shared in
      if let failure = shared.failure, failure.generation < generation { shared.failure = nil }
      if let unstored = shared.unstored, unstored.generation < generation { shared.unstored = nil }
      return (shared.state.replaced(by: generation), .look)
    }
  }

  /// What a principal's session ended with; `nil`: no refresh ended it, as far as is known.
  func sessionEnd(of principal: UInt64) -> (any Error)? {
    shared.withLock { shared in
      guard let failure = shared.failure, failure.next != nil, failure.principal == principal else { return nil }
      return failure.error
    }
  }

  /// Whether a call's server may refresh the tokens: one of those that the app has named, else the one where they were
  /// used first. So a refresh token is shown to no other because the authentication stands in a second environment.
  private func isAtHome(_ subject: RefreshSubject, isFirst: Bool) -> Bool {
    guard let origin = subject.context.environment.baseURL.origin else { return false }
    if let origins = subject.authentication.parts.origins { return origins.contains(origin) }
    let stored = subject.stored
    return shared.withLock { shared in
      // Generations go up: what a late call has seen makes nothing its home.
      if isFirst, shared.home.map({ $0.principal != stored.principal && $0.generation < stored.generation }) ?? true {
        shared.home = (stored.principal, stored.generation, origin)
      }
      return shared.home.map { $0.principal == stored.principal && $0.origin == origin } ?? false
    }
  }

  // MARK: Waiting

  /// - Returns: the decision, and why the credentials could not be refreshed the last time.
  private func decide(
    _ subject: RefreshSubject, _ decision: (inout Shared, Waiter) -> RefreshState.Decision
  ) -> (Waiter, RefreshState.Decision, Failure?) {
    shared.withLock { shared in
      let waiter = shared.nextWaiter
      shared.nextWaiter += 1
      let decision = decision(&shared, waiter)
      switch decision {
      case .wait, .waitFor: shared.waits[waiter] = .expected
      case .go, .goWhile, .rest, .fail: break
      }
      let failure = shared.failure.flatMap { $0.generation == subject.generation ? $0 : nil }
      return (waiter, decision, failure)
    }
  }

  /// The error of a call that a failure keeps from its credentials. Each client tells its own app of a session's end.
  private func failed(_ failure: Failure, _ subject: RefreshSubject) -> any Error {
    if let next = failure.next { subject.ended(next: next) }
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
    // Others run meanwhile: the refresh may need what this call has.
    return try await subject.context.withoutPermit {
      if case .rest(let instant) = decision { return try await rest(until: instant, subject, patience) }
      guard case .failed(let failure) = try await told(waiter, subject.context) else { return .look }
      let instant = shared.withLock { $0.state.rest(of: subject.generation, now: subject.context.now) }
      guard let instant else { throw failed(failure, subject) }
      return try await rest(until: instant, subject, Patience(failure: failure, rests: patience.rests))
    }
  }

  /// Waits until the token endpoint may be asked again, where that is soon and within the call's time.
  ///
  /// - Throws: what the last refresh failed with where it is not; `CancellationError`.
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

  private func told(_ waiter: Waiter, _ context: CallContext) async throws -> Told {
    let alarm = context.alarm(for: RefreshPatience(of: waiter, with: self))
    defer { alarm?.cancel() }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let told: Result<Told, any Error>? = shared.withLock { shared in
          switch shared.waits[waiter] {
          case .expected:
            shared.waits[waiter] = .waiting(continuation)
            return nil
          case .told(let told):
            shared.waits[waiter] = nil
            return .success(told)
          case .waiting, nil: return .failure(CancellationError())
          }
        }
        if let told { continuation.resume(with: told) }
      }
    } onCancel: {
      let wait = shared.withLock { shared in
        shared.state.left(waiter)
        return shared.waits.removeValue(forKey: waiter)
      }
      if case .waiting(let continuation) = wait { continuation.resume(throwing: CancellationError()) }
    }
  }

  /// The time of a waiter's attempt is up. The refresh goes on, for whoever else waits.
  func giveUp(_ waiter: Waiter) {
    let told = Told.failed(Failure(generation: 0, error: RefreshFailure.attemptOver))
    let continuation = shared.withLock { shared -> CheckedContinuation<Told, any Error>? in
      switch shared.waits[waiter] {
      case .waiting(let continuation)?:
        shared.state.left(waiter)
        shared.waits[waiter] = nil
        return continuation
      case .expected?:
        shared.state.left(waiter)
        shared.waits[waiter] = .told(told)
        return nil
      case .told?, nil: return nil
      }
    }
    continuation?.resume(returning: told)
  }

  /// Tells waiters what came of what they wait for.
  func tell(_ whom: (inout Shared) -> (Set<Waiter>, Told)) {
    let (continuations, told) = shared.withLock { shared in
      let (waiters, told) = whom(&shared)
      let continuations = waiters.sorted().compactMap { waiter -> CheckedContinuation<Told, any Error>? in
        if case .waiting(let continuation)? = shared.waits.removeValue(forKey: waiter) { return continuation }
        shared.waits[waiter] = .told(told)
        return nil
      }
      return (continuations, told)
    }
    for continuation in continuations { continuation.resume(returning: told) }
  }
}

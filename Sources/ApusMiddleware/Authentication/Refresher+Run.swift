import ApusCore
import Synchronization

extension Refresher {
  /// A refresh under way.
  private struct Run: Sendable {
    let flight: RefreshState.Flight
    let refresh: RefreshContext
    /// The credentials of the call that started the refresh.
    let credential: CallCredential

    var generation: UInt64 { flight.generation }
    var now: MonotonicInstant { credential.context.now }
  }

  private enum RunEvent: Sendable {
    /// The failure is `nil` if the credentials were replaced.
    case ended(RefreshFailure?)
    case timedOut
  }

  /// Starts a refresh in a task that belongs to no call, so that the end of a call does not cancel the refresh.
  func begin(_ flight: RefreshState.Flight, for credential: CallCredential) {
    let context = credential.context
    guard let old = credential.stored.credential else {
      let failure = RefreshFailure(generation: flight.generation, error: RefreshFailure.unknown)
      return finish(flight, with: failure, at: context.now)
    }
    context.record(.note("refreshes the credentials of generation", Int64(clamping: flight.generation)))
    let refresh = RefreshContext(old, context.sharedClient, ServerClock(context.clock))
    observeStore(for: context)
    let run = Run(flight: flight, refresh: refresh, credential: credential)
    context.spawnDetached {
      await self.perform(run)
      self.endIdleObservation()
    }
  }

  private func perform(_ run: Run) async {
    await withTaskGroup(of: RunEvent.self) { group in
      group.addTask { .ended(await self.renew(run)) }
      func startTimer() {
        let clock = run.credential.context.clock
        let end = clock.now.advanced(by: timeout)
        group.addTask {
          try? await clock.sleepUntilLimit(end)
          return .timedOut
        }
      }
      startTimer()
      var isOverdue = false
      for await event in group {
        switch event {
        case .ended(let failure):
          finish(run.flight, with: failure, at: run.now)
          // The only other task is the timer.
          return group.cancelAll()
        case .timedOut where isOverdue: group.cancelAll()
        case .timedOut:
          // The server may have issued new tokens and invalidated the old tokens: calls stop waiting, but the result is
          // still stored. After the same time again, the refresh is given up and its lease ends.
          isOverdue = true
          markOverdue(run.flight)
          startTimer()
        }
      }
    }
  }

  private func markOverdue(_ flight: RefreshState.Flight) {
    let failure = RefreshFailure(generation: flight.generation, error: RefreshFailure.overdue)
    resume(with: failure) { shared in
      if shared.state.flights.contains(flight) { shared.failure = failure }
      return shared.state.overdue(flight)
    }
  }

  /// Ends a refresh and resumes its waiters.
  ///
  /// - Parameter failure: `nil` if the credentials were replaced, by the refresh or otherwise.
  private func finish(_ flight: RefreshState.Flight, with failure: RefreshFailure?, at now: MonotonicInstant) {
    resume(with: failure) { shared in
      shared.storing.remove(flight.number)
      guard let failure else {
        if shared.failure?.generation == flight.generation { shared.failure = nil }
        return shared.state.succeeded(flight)
      }
      if shared.state.flights.contains(flight) { shared.failure = failure }
      return shared.state.failed(flight, failure.kind, now: now)
    }
  }

  /// Gets new tokens and stores them, unless the credentials were replaced in the meantime by a sign-in, another client
  /// or another process.
  ///
  /// - Returns: the failure; `nil` if the credentials were replaced, by the refresh or otherwise.
  private func renew(_ run: Run) async -> RefreshFailure? {
    let result = Mutex<RefreshFailure?>(nil)
    do {
      // The credentials may have been replaced before the observation of the store began.
      guard try await store.current().generation == run.generation else { return nil }
      try await store.withLock {
        guard try await self.store.current().generation == run.generation else { return }
        let failure = try await self.replaceTokens(run)
        result.withLock { $0 = failure }
      }
      return result.withLock { $0 }
    } catch {
      // The store failed, the wait for its lease failed, or the refresh is given up.
      return RefreshFailure(
        generation: run.generation, error: Task.isCancelled ? RefreshFailure.overdue : RefreshFailure.temporary(error))
    }
  }

  private func replaceTokens(_ run: Run) async throws -> RefreshFailure? {
    let generation = run.generation
    let tokens: Tokens
    if let unstored = shared.withLock({ $0.unstored }), unstored.generation == generation {
      // An earlier refresh could not store these tokens. The server may not issue them twice.
      tokens = unstored.tokens.aged(by: unstored.since.duration(to: run.now))
    } else {
      do {
        tokens = try await newTokens(run)
      } catch {
        return try await failure(of: run, error)
      }
      shared.withLock { $0.unstored = (generation, tokens, run.now) }
    }
    _ = shared.withLock { $0.storing.insert(run.flight.number) }
    _ = try await store.refresh(generation, to: .tokens(tokens))
    shared.withLock { if $0.unstored?.generation == generation { $0.unstored = nil } }
    return nil
  }

  private func newTokens(_ run: Run) async throws -> Tokens {
    let start = run.now
    // The store's lease must not depend on whether the app's code notices its cancellation.
    var tokens = try await DetachedWork.value(in: run.credential.context) {
      try await RefreshWork.perform(for: self) { try await self.work(run.refresh) }
    }
    if case .tokens(let old) = run.refresh.credential { tokens = tokens.completed(with: old) }
    // A token that cannot be sent must not replace a token that can be refreshed again.
    guard (try? Credential.tokens(tokens).checkedToken()) != nil else {
      throw TransportError(
        .malformedResponse, requestState: .notSent, detail: "the refresh gave a token that cannot be sent")
    }
    // The lifetime begins when the server issues the tokens, at the earliest at the request.
    return tokens.aged(by: start.duration(to: run.now))
  }

  /// Returns the failure of a refresh whose work threw an error; `nil` if the credentials were replaced in the
  /// meantime.
  private func failure(of run: Run, _ error: any Error) async throws -> RefreshFailure? {
    let generation = run.generation
    // After a sign-in or sign-out in the meantime, the failure of the old credentials has no effect.
    guard try await store.current().generation == generation else { return nil }
    guard RefreshRejection.isPermanent(error) else {
      return RefreshFailure(generation: generation, error: RefreshFailure.temporary(error))
    }
    _ = shared.withLock { $0.storing.insert(run.flight.number) }
    do {
      guard try await store.refresh(generation, to: nil) else { return nil }
    } catch {
      // If the store cannot remove the credentials, at least this process does not use them again.
    }
    // A new account's session is not over.
    let stored = try? await store.current()
    let next = stored.flatMap { $0.credential == nil ? $0.generation : nil } ?? generation
    run.credential.reportExpiry(next: next)
    return RefreshFailure(
      generation: generation, error: RefreshFailure.sessionOver(error),
      endedSession: .init(principal: run.credential.stored.principal, next: next))
  }
}

// MARK: Changes of the store

extension Refresher {
  /// Observes the store while refreshes are under way: calls must not wait for the refresh of credentials that were
  /// replaced or removed by other means.
  func observeStore(for context: CallContext) {
    guard let changes = store.principalChanges else { return }
    shared.withLock { shared in
      guard shared.observation == nil else { return }
      let number = changes.observe { [weak self] in self?.storeChanged() }
      shared.observation = Observation(context: context, number: number)
    }
  }

  /// Ends the observation if no call waits and no refresh is under way.
  func endIdleObservation() {
    let observation = shared.withLock { shared -> Observation? in
      guard shared.state.isIdle else { return nil }
      defer { shared.observation = nil }
      return shared.observation
    }
    if let observation { store.principalChanges?.remove(observation.number) }
  }

  private func storeChanged() {
    // A refresh that changes the store itself ends the waits with its own result.
    let context = shared.withLock { $0.storing.isEmpty ? $0.observation?.context : nil }
    context?.spawnDetached { await self.endOutdatedWaits() }
  }

  /// Ends the waits for generations that are no longer current.
  private func endOutdatedWaits() async {
    guard let generation = try? await store.current().generation else { return }
    resume(with: nil) { shared in
      shared.storing.isEmpty ? shared.state.replaced(by: generation) : []
    }
    endIdleObservation()
  }
}

/// A mark on the tasks that do the work of a refresh. Calls made by these tasks must not wait for the refresh.
///
/// The mark has no effect on a task that outlives the work.
final class RefreshWork: Sendable {
  @TaskLocal private static var current: RefreshWork?

  private let refresher: Refresher
  private let isOver = Atomic(false)

  private init(for refresher: Refresher) {
    self.refresher = refresher
  }

  /// Whether the current task does the work of a refresher, or of another refresher with the same store: only one of
  /// them can hold the store's lease.
  static func isCurrent(for refresher: Refresher) -> Bool {
    guard let current, !current.isOver.load(ordering: .acquiring) else { return false }
    return StoreIdentity(current.refresher.store, elseOf: current.refresher)
      == StoreIdentity(refresher.store, elseOf: refresher)
  }

  /// Performs work with the mark.
  static func perform<Value: Sendable>(
    for refresher: Refresher, _ work: () async throws -> Value
  ) async throws -> Value {
    let mark = RefreshWork(for: refresher)
    defer { mark.isOver.store(true, ordering: .releasing) }
    return try await $current.withValue(mark) { try await work() }
  }
}

extension Tokens {
  /// Returns the tokens with the remaining lifetime after some time has passed.
  fileprivate func aged(by time: Duration) -> Tokens {
    var tokens = self
    tokens.lifetime = lifetime.map { max(.zero, $0 - time) }
    return tokens
  }
}

import ApusCore
import ApusMiddleware
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A cache of credentials. Concurrent calls share one fetch, and credentials are fetched again before they expire.
/// Drives a ``RefreshState``.
final class CredentialsCache: Sendable {
  typealias Fetch = @Sendable () async throws -> FetchedCredentials

  private enum Outcome: Sendable {
    case succeeded
    case failed(any Error)
  }

  /// The credentials of a generation, with the instant at which they expire.
  private struct Held {
    let fetched: FetchedCredentials
    /// The instant at which they expire; `nil` if they do not expire.
    let end: MonotonicInstant?
    /// The time from the fetch to the expiration.
    let lifetime: Duration?
    /// Whether a server has rejected the credentials.
    var isInvalid = false
  }

  private struct Shared {
    var state = RefreshState()
    var waiters = WaiterTable<RefreshState.Waiter, Outcome>()
    var nextWaiter: RefreshState.Waiter = 0
    var window = RefreshWindow()
    /// The number of successful fetches.
    var generation: UInt64 = 0
    var held: Held?
    var failure: (any Error)?
    /// The credentials that were rejected last, and the instant. If servers keep rejecting them, not every call may
    /// start a fetch.
    var rejected: (credentials: AWSCredentials, at: MonotonicInstant)?
  }

  private enum Step {
    case use(AWSCredentials)
    case wait(RefreshState.Waiter, generation: UInt64)
    case fail(any Error)
  }

  /// The time for which a second rejection of the same credentials is ignored.
  private static let rejectionPause = Duration.seconds(60)
  /// The minimum extension of stable credentials. The actual extension is random, up to twice this time.
  private static let extensionTime = Duration.seconds(300)

  private let runtime: Runtime
  private let now: @Sendable () -> Date
  private let fetch: Fetch
  private let shared = Mutex(Shared())

  init(_ runtime: Runtime, now: @escaping @Sendable () -> Date, _ fetch: @escaping Fetch) {
    (self.runtime, self.now, self.fetch) = (runtime, now, fetch)
  }

  // MARK: Calls

  /// Returns credentials that have not expired.
  ///
  /// - Parameter context: the call that needs the credentials. Its attempt timeout ends the wait.
  func credentials(for context: CallContext? = nil) async throws -> AWSCredentials {
    // The result of a wait is checked again, because the fetched credentials may have been rejected meanwhile.
    for _ in 0..<3 {
      switch step() {
      case .use(let credentials): return credentials
      case .fail(let error): throw error
      case .wait(let waiter, let generation):
        context?.record(.awaitingCredentials(generation: generation))
        if case .failed(let error) = try await outcome(of: waiter, context) { throw error }
      }
    }
    throw SourceFailure(reason: "the server rejects credentials as soon as they are fetched")
  }

  /// The credentials, if they are available without waiting.
  var ready: AWSCredentials? {
    shared.withLock { shared in
      guard let held = shared.held, !held.isInvalid, let end = held.end else {
        return shared.held.flatMap { $0.isInvalid ? nil : $0.fetched.credentials }
      }
      return freshness(of: held, &shared) == .fresh && runtime.clock.now < end ? held.fetched.credentials : nil
    }
  }

  func invalidate(_ credentials: AWSCredentials) {
    shared.withLock { shared in
      guard shared.held?.fetched.credentials == credentials else { return }
      let instant = runtime.clock.now
      if let rejected = shared.rejected, rejected.credentials == credentials,
        rejected.at.duration(to: instant) < Self.rejectionPause
      {
        return
      }
      shared.rejected = (credentials, instant)
      shared.held?.isInvalid = true
    }
  }

  // MARK: Steps

  private func step() -> Step {
    let (step, flight) = shared.withLock { shared -> (Step, RefreshState.Flight?) in
      let waiter = shared.nextWaiter
      shared.nextWaiter += 1
      var freshness = RefreshState.Freshness.expired
      if let held = shared.held { freshness = self.freshness(of: held, &shared) }
      let decision = shared.state.prepare(shared.generation, freshness, waiter: waiter, now: runtime.clock.now)
      switch decision {
      case .wait, .startRefresh:
        shared.waiters.register(waiter)
        var flight: RefreshState.Flight?
        if case .startRefresh(let started) = decision { flight = started }
        return (.wait(waiter, generation: shared.generation), flight)
      case .send, .sendAndRefresh:
        var flight: RefreshState.Flight?
        if case .sendAndRefresh(let started) = decision { flight = started }
        return (shared.held.map { .use($0.fetched.credentials) } ?? .fail(Self.unknown), flight)
      case .waitForCoolDown, .fail: return (.fail(shared.failure ?? Self.unknown), nil)
      }
    }
    if let flight { begin(flight) }
    return step
  }

  private static var unknown: SourceFailure { SourceFailure(reason: "the credentials could not be fetched") }

  private func freshness(of held: Held, _ shared: inout Shared) -> RefreshState.Freshness {
    if held.isInvalid { return .expired }
    guard let end = held.end else { return .fresh }
    let freshness = shared.window.freshness(
      remaining: runtime.clock.now.duration(to: end), lifetime: held.lifetime, of: shared.generation,
      random: runtime.random)
    return freshness == .expired && held.fetched.isStable ? .ageing : freshness
  }

  /// Fetches credentials in a task that does not belong to a call, so that the end of a call does not end the fetch.
  private func begin(_ flight: RefreshState.Flight) {
    Task.detached(executorPreference: runtime.executor) {
      let result: Result<FetchedCredentials, any Error>
      do {
        result = .success(try await self.fetch())
      } catch {
        result = .failure(error)
      }
      self.finish(flight, with: result)
    }
  }

  private func finish(_ flight: RefreshState.Flight, with result: Result<FetchedCredentials, any Error>) {
    let instant = runtime.clock.now
    let resumptions = shared.withLock { shared in
      let waiters: Set<RefreshState.Waiter>
      let outcome: Outcome
      switch result.flatMap({ held($0, at: instant) }) {
      case .success(let held):
        (shared.held, shared.failure, outcome) = (held, nil, .succeeded)
        waiters = shared.state.succeeded(flight)
        shared.generation += 1
      case .failure(let error):
        (shared.failure, outcome) = (error, .failed(error))
        waiters = shared.state.failed(flight, .temporary, now: instant)
      }
      return waiters.sorted().compactMap { shared.waiters.resolve($0, with: outcome) }
    }
    for resumption in resumptions { resumption.resume() }
  }

  /// Returns the fetched credentials with the instant of their expiration. Extends stable credentials that have
  /// expired.
  private func held(_ fetched: FetchedCredentials, at instant: MonotonicInstant) -> Result<Held, any Error> {
    guard let expiration = fetched.credentials.expiration else {
      return .success(Held(fetched: fetched, end: nil, lifetime: nil))
    }
    var lifetime = Duration(clampingSeconds: expiration.timeIntervalSince(now()))
    if lifetime <= .zero {
      guard fetched.isStable else {
        return .failure(SourceFailure(reason: "the credentials that were fetched have expired"))
      }
      let share = Double(runtime.random() >> 11) / Double(1 << 53 as UInt64)
      lifetime = Self.extensionTime * (1 + share)
    }
    return .success(Held(fetched: fetched, end: instant.advanced(by: lifetime), lifetime: lifetime))
  }

  // MARK: Waiting

  private func outcome(of waiter: RefreshState.Waiter, _ context: CallContext?) async throws -> Outcome {
    let alarm = context?.alarm(for: WaitLimit { self.giveUp(waiter) })
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

  /// Ends the wait of a call whose attempt timeout has passed. The fetch continues for other calls.
  fileprivate func giveUp(_ waiter: RefreshState.Waiter) {
    let resumption = shared.withLock { shared -> WaiterTable<RefreshState.Waiter, Outcome>.Resumption? in
      guard shared.waiters.isPending(waiter) else { return nil }
      shared.state.left(waiter)
      return shared.waiters.resolve(
        waiter, with: .failed(TransportError.attemptTimedOut(in: .waiting, requestState: .notSent)))
    }
    resumption?.resume()
  }
}

package import ApusCore

/// The refreshes of one store's credentials and the calls that wait for them. A pure state machine, driven by
/// ``Refresher``.
///
/// Credentials are identified by their generation. Rules:
/// - Each generation has at most one refresh at a time. A call that was rejected with an older generation than the
///   current generation is resent without a refresh.
/// - A waiter that leaves does not end the refresh.
/// - An overdue refresh has no waiters, and is not started again while it runs: the server may have issued new tokens
///   already and invalidated the old tokens.
/// - A refresh that failed permanently is not repeated.
/// - A temporary failure starts a cool-down of the token endpoint, which doubles until a refresh succeeds.
/// - A rejection of freshly refreshed credentials starts a cool-down as well, which doubles until a message with these
///   or newer credentials is accepted. Rejections of credentials that were replaced are ignored.
/// - After the credentials were replaced or removed by other means no call waits for an older generation, and the
///   result of a refresh under way changes nothing.
package struct RefreshState: Hashable {
  package typealias Waiter = UInt64

  /// A refresh under way. It may become ``overdue(_:)``, and ends with ``succeeded(_:)`` or ``failed(_:_:now:)``.
  package struct Flight: Hashable {
    package let number: UInt64
    /// The generation to refresh.
    package let generation: UInt64
  }

  /// The freshness of the credentials that a message is about to carry.
  package enum Freshness: CaseIterable {
    case fresh
    /// Valid, but about to expire.
    case ageing
    case expired
  }

  /// The kind of a failed refresh.
  package enum Failure: Hashable {
    /// The token endpoint rejected the credentials: the user must sign in.
    case permanent
    /// A later refresh may succeed.
    case temporary
  }

  /// The next step of a call, before its message is sent or after it was rejected.
  package enum Decision: Hashable {
    /// The message is sent with the current credentials.
    case send
    /// The message is sent with the current credentials, and a refresh starts in the background.
    case sendAndRefresh(Flight)
    /// The call waits for a refresh under way.
    case wait
    /// A refresh starts, and the call waits for it.
    case startRefresh(Flight)
    /// The call waits for the end of the token endpoint's cool-down.
    case waitForCoolDown(until: MonotonicInstant)
    /// The call fails, because no refresh is possible.
    case fail(Failure)
  }

  private struct Refresh: Hashable {
    let flight: Flight
    /// Whether calls must wait for this refresh, since the credentials are unusable.
    var isNeeded: Bool
    /// Whether the refresh has exceeded its timeout.
    var isOverdue = false
    var waiters: Set<Waiter> = []
  }

  /// A cool-down that grows with each failure.
  private struct CoolDown: Hashable {
    let generation: UInt64
    var failures: Int
    let end: MonotonicInstant

    init(_ generation: UInt64, failures: Int, at now: MonotonicInstant) {
      self.generation = generation
      self.failures = failures
      end = now.advanced(by: RefreshState.coolDown(after: failures))
    }
  }

  /// The refreshes under way, by generation: the refresh of an old generation may still run.
  private var refreshes: [UInt64: Refresh] = [:]
  /// The calls that wait for the end of a cool-down, with their generations.
  private var coolDownWaiters: [Waiter: UInt64] = [:]
  /// The latest generation whose refresh failed permanently.
  private var failedGeneration: UInt64?
  /// The cool-down of the token endpoint after temporary failures.
  private var endpointCoolDown: CoolDown?
  /// The cool-down after a rejection of freshly refreshed credentials.
  private var rejectionCoolDown: CoolDown?
  private var nextNumber: UInt64 = 0

  /// Creates the state before any refresh.
  package init() {}

  /// The refreshes under way.
  package var flights: Set<Flight> { Set(refreshes.values.map(\.flight)) }
  /// Whether no call waits and no refresh is under way.
  var isIdle: Bool { refreshes.isEmpty && coolDownWaiters.isEmpty }

  /// Decides about a message that is about to be sent with credentials of a generation.
  package mutating func prepare(
    _ generation: UInt64, _ freshness: Freshness, waiter: Waiter, now: MonotonicInstant
  ) -> Decision {
    if let refresh = refreshes[generation] {
      if refresh.isOverdue { return freshness == .expired ? .fail(.temporary) : .send }
      // Credentials that a server has rejected are unusable, whatever their remaining lifetime.
      return freshness == .expired || refresh.isNeeded ? wait(waiter, for: generation) : .send
    }
    switch freshness {
    case .fresh: return .send
    case .ageing: return obstacle(to: generation, now) == nil ? .sendAndRefresh(begin(generation)) : .send
    case .expired: return obstacle(to: generation, now) ?? .startRefresh(begin(generation, with: waiter))
    }
  }

  /// Decides about a message that the server rejected; `current` is the current generation.
  mutating func rejected(
    _ generation: UInt64, current: UInt64, waiter: Waiter, now: MonotonicInstant
  ) -> Decision {
    guard generation == current else { return .send }
    if let refresh = refreshes[generation] {
      return refresh.isOverdue ? .fail(.temporary) : wait(waiter, for: generation)
    }
    return obstacle(to: generation, now) ?? .startRefresh(begin(generation, with: waiter))
  }

  /// Records a rejection of freshly refreshed credentials: another refresh is unlikely to help soon. Several rejections
  /// of one generation are counted once. A rejection of an older generation than `current` is ignored.
  mutating func rejectedAfterRefresh(_ generation: UInt64, current: UInt64, now: MonotonicInstant) {
    guard generation == current, obstacle(to: generation, now) == nil else { return }
    // The cool-down of a server that rejects each of its new tokens grows.
    let isSoon = rejectionCoolDown.map { now <= $0.end.advanced(by: Self.coolDown(after: .max)) } ?? false
    let failures = isSoon ? rejectionCoolDown?.failures ?? 0 : 0
    rejectionCoolDown = CoolDown(generation, failures: failures + 1, at: now)
  }

  /// Whether ``accepted(_:)`` would change the state.
  var awaitsAcceptance: Bool { rejectionCoolDown.map { $0.failures > 0 } ?? false }

  /// Records that the server accepted credentials of a generation. The present cool-down continues; the next cool-down
  /// starts at 1 second again.
  mutating func accepted(_ generation: UInt64) {
    if let rejectionCoolDown, rejectionCoolDown.generation <= generation { self.rejectionCoolDown?.failures = 0 }
  }

  /// Returns the end of the token endpoint's cool-down for a generation; `nil` if there is no cool-down.
  package func coolDownEnd(of generation: UInt64, now: MonotonicInstant) -> MonotonicInstant? {
    endpointCoolDown.flatMap { $0.generation == generation && now < $0.end ? $0.end : nil }
  }

  /// Adds a waiter for the end of a cool-down.
  mutating func waitsForCoolDown(_ waiter: Waiter, of generation: UInt64) {
    coolDownWaiters[waiter] = generation
  }

  /// Removes a waiter.
  package mutating func left(_ waiter: Waiter) {
    coolDownWaiters[waiter] = nil
    for generation in refreshes.keys { refreshes[generation]?.waiters.remove(waiter) }
  }

  /// Marks a refresh as overdue. Returns its waiters, which fail; the refresh continues.
  mutating func overdue(_ flight: Flight) -> Set<Waiter> {
    guard let refresh = refreshes[flight.generation], refresh.flight == flight else { return [] }
    refreshes[flight.generation]?.isOverdue = true
    refreshes[flight.generation]?.waiters = []
    return refresh.waiters
  }

  /// Ends a refresh whose credentials were replaced, by the refresh or otherwise. Returns its waiters, which read the
  /// credentials again. A refresh that is not under way is ignored.
  package mutating func succeeded(_ flight: Flight) -> Set<Waiter> {
    guard let refresh = end(flight) else { return [] }
    if let endpointCoolDown, endpointCoolDown.generation <= flight.generation { self.endpointCoolDown = nil }
    return refresh.waiters
  }

  /// Ends a refresh that failed. Returns its waiters, which fail. A refresh that is not under way is ignored.
  package mutating func failed(_ flight: Flight, _ failure: Failure, now: MonotonicInstant) -> Set<Waiter> {
    guard let refresh = end(flight) else { return [] }
    switch failure {
    case .permanent: failedGeneration = max(failedGeneration ?? 0, flight.generation)
    case .temporary:
      // A failure with old credentials does not affect newer credentials.
      if let endpointCoolDown, endpointCoolDown.generation > flight.generation { break }
      let failures = endpointCoolDown?.generation == flight.generation ? endpointCoolDown?.failures ?? 0 : 0
      endpointCoolDown = CoolDown(flight.generation, failures: failures + 1, at: now)
    }
    return refresh.waiters
  }

  /// Records that the credentials were replaced or removed by other means than a refresh; `generation` is the current
  /// generation. Returns the waiters of older generations, which read the credentials again.
  mutating func replaced(by generation: UInt64) -> Set<Waiter> {
    var waiters = Set(coolDownWaiters.filter { $0.value < generation }.keys)
    for waiter in waiters { coolDownWaiters[waiter] = nil }
    for old in refreshes.keys where old < generation {
      waiters.formUnion(refreshes.removeValue(forKey: old)?.waiters ?? [])
    }
    if let endpointCoolDown, endpointCoolDown.generation < generation { self.endpointCoolDown = nil }
    if let rejectionCoolDown, rejectionCoolDown.generation < generation { self.rejectionCoolDown = nil }
    return waiters
  }

  // MARK: Steps

  private mutating func begin(_ generation: UInt64, with waiter: Waiter? = nil) -> Flight {
    let flight = Flight(number: nextNumber, generation: generation)
    nextNumber += 1
    refreshes[generation] = Refresh(flight: flight, isNeeded: waiter != nil, waiters: waiter.map { [$0] } ?? [])
    return flight
  }

  private mutating func wait(_ waiter: Waiter, for generation: UInt64) -> Decision {
    refreshes[generation]?.isNeeded = true
    refreshes[generation]?.waiters.insert(waiter)
    return .wait
  }

  /// Removes a refresh; `nil` if it is not under way.
  private mutating func end(_ flight: Flight) -> Refresh? {
    guard refreshes[flight.generation]?.flight == flight else { return nil }
    return refreshes.removeValue(forKey: flight.generation)
  }

  /// Returns the reason why a refresh of a generation cannot start now; `nil` if the refresh can start.
  private func obstacle(to generation: UInt64, _ now: MonotonicInstant) -> Decision? {
    if failedGeneration == generation { return .fail(.permanent) }
    if let end = coolDownEnd(of: generation, now: now) { return .waitForCoolDown(until: end) }
    if let rejectionCoolDown, rejectionCoolDown.generation == generation, now < rejectionCoolDown.end {
      return .fail(.temporary)
    }
    return nil
  }

  /// Returns the duration of a cool-down: 1 second after the first failure, doubled with each further failure, up to 1
  /// minute.
  static func coolDown(after failures: Int) -> Duration {
    .seconds(min(60, 1 << min(max(failures, 1) - 1, 6)))
  }
}

/// A rule that decides when credentials are ageing: shortly before they expire, at a different moment in each process.
package struct RefreshWindow {
  /// The jitter of a generation. If each message had new jitter, the earliest moment would always win.
  private var jitter: (generation: UInt64, share: Double)?

  package init() {}

  /// Returns the freshness of credentials, by their lifetime and their remaining lifetime.
  ///
  /// Credentials are ageing in the last tenth of their lifetime, which is at most a minute. Jitter extends this time by
  /// up to a half.
  mutating func freshness(of stored: StoredCredential, random: () -> UInt64) -> RefreshState.Freshness {
    var lifetime: Duration?
    if case .tokens(let tokens)? = stored.credential { lifetime = tokens.lifetime }
    return freshness(remaining: stored.remaining, lifetime: lifetime, of: stored.generation, random: random)
  }

  /// Returns the freshness of credentials of a generation.
  ///
  /// - Parameters:
  ///   - remaining: the remaining lifetime; `nil`: they do not expire.
  ///   - lifetime: the whole lifetime; `nil`: unknown, they are fresh until they expire.
  package mutating func freshness(
    remaining: Duration?, lifetime: Duration?, of generation: UInt64, random: () -> UInt64
  ) -> RefreshState.Freshness {
    guard let remaining else { return .fresh }
    if remaining <= .zero { return .expired }
    guard let lifetime else { return .fresh }
    let margin = min(.seconds(60), lifetime / 10)
    return remaining <= margin * (1 + share(of: generation, random) / 2) ? .ageing : .fresh
  }

  private mutating func share(of generation: UInt64, _ random: () -> UInt64) -> Double {
    if let jitter, jitter.generation == generation { return jitter.share }
    let share = Double(random() >> 11) / Double(1 << 53 as UInt64)
    jitter = (generation, share)
    return share
  }
}

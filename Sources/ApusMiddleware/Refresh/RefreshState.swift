package import ApusCore

/// The refreshes of one store's credentials and the calls that wait for them. A pure state machine, driven by
/// ``Refresher``.
///
/// Credentials are identified by their generation. Rules:
/// - Each generation has at most one refresh at a time. A call that was rejected with an older generation than the
///   current one is resent without a refresh.
/// - A waiter that leaves does not end the refresh.
/// - An overdue refresh has no waiters, and is not started again while it runs: the server may have issued new tokens
///   already and invalidated the old ones.
/// - A refresh that failed for good is not repeated.
/// - A temporary failure starts a cool-down of the token endpoint, which doubles until a refresh succeeds.
/// - A rejection of freshly refreshed credentials starts a cool-down as well, which doubles until a message with these
///   or newer credentials is accepted. Rejections of credentials that were replaced do not count.
/// - After a sign-out no call waits for an older generation, and the result of a refresh under way changes nothing.
package struct RefreshState: Hashable {
  package typealias Waiter = UInt64

  /// A refresh under way, until ``ended(_:with:now:)``; before that it may become ``overdue(_:)``.
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

  /// The reason why there are no fresh credentials.
  package enum Failure: Hashable {
    /// The token endpoint rejected the credentials: the user must sign in.
    case lasting
    /// A later refresh may succeed.
    case passing
  }

  /// The next step of a message, before it is sent or after it was rejected.
  package enum Decision: Hashable {
    /// Goes on with the current credentials.
    case go
    /// Goes on with the current credentials; a refresh starts in the background.
    case goWhile(Flight)
    /// Waits for a refresh under way.
    case wait
    /// Waits for a refresh that starts now.
    case waitFor(Flight)
    /// Waits for the end of the token endpoint's cool-down.
    case rest(until: MonotonicInstant)
    /// Fails: no refresh is possible.
    case fail(Failure)
  }

  /// The end of a refresh.
  package enum End: Hashable {
    /// The credentials were replaced, by the refresh or otherwise.
    case replaced
    case failed(Failure)
  }

  /// The outcome of a wait.
  package enum Outcome: Hashable {
    /// The waiter reads the credentials again.
    case look
    case failed(Failure)
  }

  private struct Refresh: Hashable {
    let flight: Flight
    /// Whether calls wait for it, since the credentials are unusable.
    var isNeeded: Bool
    /// Whether it took longer than its limit.
    var isOverdue = false
    var waiters: Set<Waiter> = []
  }

  /// A cool-down that grows with each failure.
  private struct CoolDown: Hashable {
    let generation: UInt64
    var count: Int
    let until: MonotonicInstant

    init(_ generation: UInt64, count: Int, at now: MonotonicInstant) {
      self.generation = generation
      self.count = count
      until = now.advanced(by: RefreshState.pause(after: count))
    }
  }

  /// The refreshes under way, by generation: the refresh of an old generation may still run.
  private var refreshes: [UInt64: Refresh] = [:]
  /// The latest generation whose refresh failed for good.
  private var lasting: UInt64?
  /// The cool-down of the token endpoint.
  private var outage: CoolDown?
  /// The cool-down after a rejection of freshly refreshed credentials.
  private var distrust: CoolDown?
  private var nextNumber: UInt64 = 0

  /// Creates the state before any refresh.
  package init() {}

  /// The refreshes under way.
  package var flights: Set<Flight> { Set(refreshes.values.map(\.flight)) }
  /// The calls that wait.
  package var waiters: Set<Waiter> { refreshes.values.reduce(into: []) { $0.formUnion($1.waiters) } }

  /// Decides about a message that is about to be sent with credentials of a generation.
  package mutating func needs(
    _ generation: UInt64, _ freshness: Freshness, waiter: Waiter, now: MonotonicInstant
  ) -> Decision {
    if let refresh = refreshes[generation] {
      if refresh.isOverdue { return freshness == .expired ? .fail(.passing) : .go }
      // Credentials that a server has rejected are unusable, whatever their remaining lifetime.
      return freshness == .expired || refresh.isNeeded ? wait(waiter, for: generation) : .go
    }
    switch freshness {
    case .fresh: return .go
    case .ageing: return obstacle(to: generation, now) == nil ? .goWhile(begin(generation)) : .go
    case .expired: return obstacle(to: generation, now) ?? .waitFor(begin(generation, with: waiter))
    }
  }

  /// Decides about a message that the server rejected; `current` is the current generation.
  mutating func rejected(
    _ generation: UInt64, current: UInt64, waiter: Waiter, now: MonotonicInstant
  ) -> Decision {
    guard generation == current else { return .go }
    if let refresh = refreshes[generation] {
      return refresh.isOverdue ? .fail(.passing) : wait(waiter, for: generation)
    }
    return obstacle(to: generation, now) ?? .waitFor(begin(generation, with: waiter))
  }

  /// Notes that the server rejected freshly refreshed credentials: another refresh is unlikely to help soon. Several
  /// rejections of one generation count once; a rejection of an older generation than `current` does not count.
  mutating func rejectedAfterRefresh(_ generation: UInt64, current: UInt64, now: MonotonicInstant) {
    guard generation == current, obstacle(to: generation, now) == nil else { return }
    // The cool-down of a server that keeps rejecting the tokens it issues grows.
    let isSoon = distrust.map { now <= $0.until.advanced(by: Self.pause(after: .max)) } ?? false
    distrust = CoolDown(generation, count: (isSoon ? distrust?.count ?? 0 : 0) + 1, at: now)
  }

  /// Whether ``accepted(_:)`` would change the state.
  var awaitsAcceptance: Bool { distrust.map { $0.count > 0 } ?? false }

  /// Notes that the server accepted credentials of a generation. A running cool-down goes on; the next cool-down starts
  /// at 1 second again.
  mutating func accepted(_ generation: UInt64) {
    if let distrust, distrust.generation <= generation { self.distrust?.count = 0 }
  }

  /// The end of the token endpoint's cool-down for a generation; `nil`: there is none.
  package func rest(of generation: UInt64, now: MonotonicInstant) -> MonotonicInstant? {
    outage.flatMap { $0.generation == generation && now < $0.until ? $0.until : nil }
  }

  /// Removes a waiter.
  package mutating func left(_ waiter: Waiter) {
    for generation in refreshes.keys { refreshes[generation]?.waiters.remove(waiter) }
  }

  /// Marks a refresh as overdue. Returns its waiters, which fail; the refresh goes on.
  mutating func overdue(_ flight: Flight) -> Set<Waiter> {
    guard let refresh = refreshes[flight.generation], refresh.flight == flight else { return [] }
    refreshes[flight.generation]?.isOverdue = true
    refreshes[flight.generation]?.waiters = []
    return refresh.waiters
  }

  /// Ends a refresh. Returns its waiters and their outcome. A refresh that is not under way is ignored.
  package mutating func ended(_ flight: Flight, with end: End, now: MonotonicInstant) -> (Set<Waiter>, Outcome) {
    guard let refresh = refreshes[flight.generation], refresh.flight == flight else { return ([], .look) }
    refreshes[flight.generation] = nil
    guard case .failed(let failure) = end else {
      if let outage, outage.generation <= flight.generation { self.outage = nil }
      return (refresh.waiters, .look)
    }
    switch failure {
    case .lasting: lasting = max(lasting ?? 0, flight.generation)
    case .passing: failed(flight.generation, now)
    }
    return (refresh.waiters, .failed(failure))
  }

  /// Notes that another account signed in or out; `generation` is the current generation. Returns the waiters of older
  /// generations, which read the credentials again.
  mutating func replaced(by generation: UInt64) -> Set<Waiter> {
    var waiters: Set<Waiter> = []
    for old in refreshes.keys where old < generation {
      waiters.formUnion(refreshes.removeValue(forKey: old)?.waiters ?? [])
    }
    if let outage, outage.generation < generation { self.outage = nil }
    if let distrust, distrust.generation < generation { self.distrust = nil }
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

  /// The reason why a refresh of a generation cannot start now; `nil`: it can.
  private func obstacle(to generation: UInt64, _ now: MonotonicInstant) -> Decision? {
    if lasting == generation { return .fail(.lasting) }
    if let until = rest(of: generation, now: now) { return .rest(until: until) }
    if let distrust, distrust.generation == generation, now < distrust.until { return .fail(.passing) }
    return nil
  }

  private mutating func failed(_ generation: UInt64, _ now: MonotonicInstant) {
    // A failure with old credentials does not affect newer credentials.
    if let outage, outage.generation > generation { return }
    let count = outage?.generation == generation ? outage?.count ?? 0 : 0
    outage = CoolDown(generation, count: count + 1, at: now)
  }

  /// The duration of a cool-down: 1 second after the first failure, doubled with each further failure, up to 1 minute.
  static func pause(after count: Int) -> Duration {
    .seconds(min(60, 1 << min(max(count, 1) - 1, 6)))
  }
}

import ApusCore

/// When credentials are refreshed, who waits for that, and what came of it: pure; ``Refresher`` does what it answers.
///
/// Credentials are told apart by their generation, as their source counts it. Rules: of one generation there is one
/// refresh at a time, whoever asks and however many. Who was refused with another generation than the present one only
/// repeats. A waiter that leaves ends nothing. A refresh whose time is up keeps nobody waiting and is not begun again
/// while it runs: the server may have given new tokens already, and take the old ones no more. What failed for good is
/// not tried again. What failed for now begins a cool-down of the token endpoint, which doubles until a refresh succeeds.
/// Credentials that are refused fresh from a refresh begin a cool-down as well, which doubles until a message with them
/// or newer ones is accepted; refusals of credentials that were replaced already count nothing. Once it is told that
/// somebody signed out, nobody waits for what was before, and what comes of a refresh under way changes nothing.
struct RefreshState: Hashable {
  typealias Waiter = UInt64

  /// A refresh that has begun; its end is told by ``ended(_:with:now:)``, before that perhaps that it is ``overdue(_:)``.
  struct Flight: Hashable {
    let number: UInt64
    /// The generation that is refreshed.
    let generation: UInt64
  }

  /// How fresh the credentials are that a message is about to carry.
  enum Freshness: CaseIterable {
    case fresh
    /// Still good, and soon not.
    case ageing
    case expired
  }

  /// Why there are no fresh credentials.
  enum Failure: Hashable {
    /// The server takes these credentials for a refresh no more: somebody has to sign in.
    case lasting
    /// It could not be done now.
    case passing
  }

  /// What a message does that is about to leave, or was refused.
  enum Decision: Hashable {
    /// Goes on, with the credentials there are now.
    case go
    /// The same; the refresh is begun beside.
    case goWhile(Flight)
    /// Waits for a refresh under way.
    case wait
    /// Waits for the refresh, which is begun.
    case waitFor(Flight)
    /// The token endpoint failed, and is left alone until then.
    case rest(until: MonotonicInstant)
    /// Does not go on: there is nothing to wait for.
    case fail(Failure)
  }

  /// How a refresh ended.
  enum End: Hashable {
    /// There are other credentials than before, whoever put them there.
    case replaced
    case failed(Failure)
  }

  /// What whoever waits is told.
  enum Outcome: Hashable {
    /// To look at the credentials again.
    case look
    case failed(Failure)
  }

  private struct Refresh: Hashable {
    let flight: Flight
    /// Whether messages wait for it: the credentials are no good as they are.
    var isNeeded: Bool
    /// Whether its time is up: nobody waits for it any more.
    var isOverdue = false
    var waiters: Set<Waiter> = []
  }

  /// Something is left alone for a while, longer each time.
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

  /// Those under way, by their generations: an old one may still run when there are other credentials already.
  private var refreshes: [UInt64: Refresh] = [:]
  /// The last generation with which a refresh was refused for good.
  private var lasting: UInt64?
  /// The token endpoint has failed.
  private var outage: CoolDown?
  /// Credentials were refused that were fresh from a refresh.
  private var distrust: CoolDown?
  private var nextNumber: UInt64 = 0

  /// The refreshes under way.
  var flights: Set<Flight> { Set(refreshes.values.map(\.flight)) }
  /// Who waits.
  var waiters: Set<Waiter> { refreshes.values.reduce(into: []) { $0.formUnion($1.waiters) } }

  /// A message is about to leave with credentials of a generation.
  mutating func needs(
    _ generation: UInt64, _ freshness: Freshness, waiter: Waiter, now: MonotonicInstant
  ) -> Decision {
    if let refresh = refreshes[generation] {
      if refresh.isOverdue { return freshness == .expired ? .fail(.passing) : .go }
      // Where a server refused them they are no good however fresh they look.
      return freshness == .expired || refresh.isNeeded ? wait(waiter, for: generation) : .go
    }
    switch freshness {
    case .fresh: return .go
    case .ageing: return obstacle(to: generation, now) == nil ? .goWhile(begin(generation)) : .go
    case .expired: return obstacle(to: generation, now) ?? .waitFor(begin(generation, with: waiter))
    }
  }

  /// The server refused a message with credentials of a generation; `current` is the one there is by now.
  mutating func refused(
    _ generation: UInt64, current: UInt64, waiter: Waiter, now: MonotonicInstant
  ) -> Decision {
    guard generation == current else { return .go }
    if let refresh = refreshes[generation] {
      return refresh.isOverdue ? .fail(.passing) : wait(waiter, for: generation)
    }
    return obstacle(to: generation, now) ?? .waitFor(begin(generation, with: waiter))
  }

  /// The server refused credentials that are fresh from a refresh: another would not help soon. However many are refused
  /// with them, it counts once; `current` is the generation there is by now, and a refusal of an older one counts nothing.
  mutating func refusedAfterRefresh(_ generation: UInt64, current: UInt64, now: MonotonicInstant) {
    guard generation == current, obstacle(to: generation, now) == nil else { return }
    // A server that takes nothing of what it gives is left alone ever longer.
    let isSoon = distrust.map { now <= $0.until.advanced(by: Self.pause(after: .max)) } ?? false
    distrust = CoolDown(generation, count: (isSoon ? distrust?.count ?? 0 : 0) + 1, at: now)
  }

  /// Whether an acceptance would change anything.
  var awaitsAcceptance: Bool { distrust.map { $0.count > 0 } ?? false }

  /// The server accepted a message with credentials of a generation. A cool-down that has begun goes on, and the next one
  /// is the first again.
  mutating func accepted(_ generation: UInt64) {
    if let distrust, distrust.generation <= generation { self.distrust?.count = 0 }
  }

  /// Until when the token endpoint is left alone that failed for a generation; `nil`: it may be asked.
  func rest(of generation: UInt64, now: MonotonicInstant) -> MonotonicInstant? {
    outage.flatMap { $0.generation == generation && now < $0.until ? $0.until : nil }
  }

  /// Somebody stops waiting.
  mutating func left(_ waiter: Waiter) {
    for generation in refreshes.keys { refreshes[generation]?.waiters.remove(waiter) }
  }

  /// The time of a refresh is up: who is told that it has failed for now. It goes on.
  mutating func overdue(_ flight: Flight) -> Set<Waiter> {
    guard let refresh = refreshes[flight.generation], refresh.flight == flight else { return [] }
    refreshes[flight.generation]?.isOverdue = true
    refreshes[flight.generation]?.waiters = []
    return refresh.waiters
  }

  /// A refresh has ended: who is told, and what. Of one that is not under way any more nothing follows.
  mutating func ended(_ flight: Flight, with end: End, now: MonotonicInstant) -> (Set<Waiter>, Outcome) {
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

  /// Somebody signed in or out, and `generation` is the one there is now: who waits for an older one is told to look
  /// again.
  mutating func replaced(by generation: UInt64) -> Set<Waiter> {
    var told: Set<Waiter> = []
    for old in refreshes.keys where old < generation {
      told.formUnion(refreshes.removeValue(forKey: old)?.waiters ?? [])
    }
    if let outage, outage.generation < generation { self.outage = nil }
    if let distrust, distrust.generation < generation { self.distrust = nil }
    return told
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

  /// What keeps a refresh of a generation from beginning now.
  private func obstacle(to generation: UInt64, _ now: MonotonicInstant) -> Decision? {
    if lasting == generation { return .fail(.lasting) }
    if let until = rest(of: generation, now: now) { return .rest(until: until) }
    if let distrust, distrust.generation == generation, now < distrust.until { return .fail(.passing) }
    return nil
  }

  private mutating func failed(_ generation: UInt64, _ now: MonotonicInstant) {
    // What becomes of old credentials says nothing of later ones.
    if let outage, outage.generation > generation { return }
    let count = outage?.generation == generation ? outage?.count ?? 0 : 0
    outage = CoolDown(generation, count: count + 1, at: now)
  }

  /// 1 s after the first failure, twice as long after each further one, up to a minute.
  static func pause(after count: Int) -> Duration {
    .seconds(min(60, 1 << min(max(count, 1) - 1, 6)))
  }
}

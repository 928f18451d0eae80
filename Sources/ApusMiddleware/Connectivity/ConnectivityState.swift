import ApusCore

/// Whether there is a network, who waits for it, and who tries: pure; ``Connectivity`` does what it answers.
///
/// What was heard last counts, from a source or from a call. While there is none, one call after the other is let
/// through as a probe, ever more rarely: so nobody waits for ever for news that do not come. Every change begins a new
/// epoch, and a call that began in an earlier one cannot tell that there is no network.
struct ConnectivityState: Hashable {
  typealias Waiter = UInt64

  /// Lets a call through; how it went is told with it.
  struct Permit: Hashable {
    fileprivate let epoch: UInt64
    /// The number of a probe; `nil`: a call like any other.
    fileprivate let probe: UInt64?
    var isProbe: Bool { probe != nil }
  }

  /// What a call found out.
  enum Finding: Hashable {
    /// A server answered.
    case reached
    /// There is no network.
    case unreachable
    /// Nothing of that.
    case nothing
    /// Nothing, since it came to no try: it was cancelled, or refused on this side.
    case untried
  }

  enum Decision: Hashable {
    case pass(Permit)
    case wait
    case refuse
  }

  /// Somebody waits no longer.
  struct Release: Hashable {
    let waiter: Waiter
    let permit: Permit
  }

  /// What follows from something that happened.
  struct Consequence: Hashable {
    /// The status, if it is another one now.
    var change: ConnectivityStatus?
    /// Who waits no longer, in their order.
    var released: [Release] = []
  }

  private(set) var status = ConnectivityStatus.unknown
  /// Those who wait, in order.
  private(set) var waiters = WaitingLine<Waiter>()
  private var epoch: UInt64 = 0
  private var probe: UInt64?
  private var nextProbe: UInt64 = 0
  /// Until when the others leave it to the probe.
  private var probeUntil = MonotonicInstant(sinceStart: .zero)
  /// When the next probe may go; `nil` until somebody asks.
  private var probeAt: MonotonicInstant?
  /// How often in a row it was found that there is none.
  private var failures = 0

  /// When one of those who wait is to be let through as a probe; `nil`: nobody waits.
  var wake: MonotonicInstant? {
    guard status == .offline, !waiters.isEmpty else { return nil }
    return probe == nil ? probeAt : probeUntil
  }

  // MARK: Calls

  /// A call wants through.
  mutating func arrive(_ waiter: Waiter, _ policy: ConnectivityPolicy, isFirst: Bool, now: MonotonicInstant)
    -> Decision
  {
    guard status == .offline, !(policy == .pauseRetries && isFirst) else { return .pass(plain) }
    if probeAt == nil { probeAt = now.advanced(by: Self.pause(after: failures)) }
    if waiters.isEmpty, let permit = beginProbe(now) { return .pass(permit) }
    guard policy != .failFast else { return .refuse }
    waiters.append(waiter)
    return .wait
  }

  /// A call that was let through has found something out.
  mutating func found(_ finding: Finding, _ permit: Permit, now: MonotonicInstant) -> Consequence {
    let wasProbe = permit.probe != nil && permit.probe == probe
    if wasProbe { probe = nil }
    switch finding {
    case .reached: return become(.online)
    case .unreachable where permit.epoch == epoch:
      guard status == .offline else { return become(.offline, failures: 1, now: now) }
      guard wasProbe else { return Consequence() }
      // Where a source said so, it stays at its pace.
      if failures > 0 { failures += 1 }
      probeAt = now.advanced(by: Self.pause(after: failures))
      return Consequence()
    case .unreachable, .nothing:
      // Else all who wait would go in the same instant, one after the other.
      if wasProbe { probeAt = now.advanced(by: Self.pause(after: failures)) }
      return Consequence()
    case .untried: return wasProbe ? timePassed(now) : Consequence()
    }
  }

  /// A call that was let through was cancelled before it heard of it: the next one takes its place.
  mutating func abandoned(_ permit: Permit) -> Consequence {
    guard permit.probe != nil, permit.probe == probe, let probeAt else { return Consequence() }
    probe = nil
    return timePassed(probeAt)
  }

  /// Somebody waits no longer.
  mutating func leave(_ waiter: Waiter) {
    waiters.remove(waiter)
  }

  /// The time for a probe may have come: the first of those who wait is it.
  mutating func timePassed(_ now: MonotonicInstant) -> Consequence {
    guard !waiters.isEmpty, let permit = beginProbe(now), let first = waiters.popFirst() else { return Consequence() }
    return Consequence(released: [Release(waiter: first, permit: permit)])
  }

  // MARK: A source

  /// A source told something.
  mutating func report(_ status: ConnectivityStatus) -> Consequence {
    status == self.status ? Consequence() : become(status)
  }

  // MARK: Steps

  private var plain: Permit { Permit(epoch: epoch, probe: nil) }

  private mutating func beginProbe(_ now: MonotonicInstant) -> Permit? {
    guard status == .offline, let probeAt, probeAt <= now, probe == nil || probeUntil <= now else { return nil }
    let number = nextProbe
    nextProbe += 1
    probe = number
    probeUntil = now.advanced(by: Self.pause(after: 0))
    return Permit(epoch: epoch, probe: number)
  }

  private mutating func become(
    _ next: ConnectivityStatus, failures: Int = 0, now: MonotonicInstant? = nil
  ) -> Consequence {
    guard next != status else { return Consequence() }
    status = next
    epoch += 1
    probe = nil
    self.failures = failures
    probeAt = now?.advanced(by: Self.pause(after: failures))
    guard next != .offline else { return Consequence(change: next) }
    let permit = plain
    return Consequence(change: next, released: waiters.popAll().map { Release(waiter: $0, permit: permit) })
  }

  /// 1 s after the first call that found no network, twice as long after each further one, up to 30 s; where a
  /// source said so, 30 s after the first call that asks.
  static func pause(after failures: Int) -> Duration {
    failures == 0 ? .seconds(30) : .seconds(min(30, 1 << min(failures - 1, 5)))
  }
}

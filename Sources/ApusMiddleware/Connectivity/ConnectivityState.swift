import ApusCore

/// The connectivity status, the calls that wait for a network, and the probes. A pure state machine, driven by
/// ``Connectivity``.
///
/// The latest evidence, from a source or a call, determines the status. While the device is offline, one call at a time
/// is admitted as a probe, at growing intervals, so that no call waits forever for a missing report. Every change
/// begins a new epoch; a call that was admitted in an earlier epoch is no evidence that the device is offline.
struct ConnectivityState: Hashable {
  typealias Waiter = UInt64

  /// The admission of a call. It is returned with the evidence of the call.
  struct Permit: Hashable {
    fileprivate let epoch: UInt64
    /// The number of a probe; `nil` for other calls.
    fileprivate let probe: UInt64?
    var isProbe: Bool { probe != nil }
  }

  /// The evidence of an admitted call about the network.
  enum Finding: Hashable {
    /// A server responded.
    case reached
    /// The device is offline.
    case unreachable
    /// No evidence.
    case nothing
    /// No evidence, because nothing was sent: the call was cancelled, or refused by the client.
    case untried
  }

  enum Decision: Hashable {
    case pass(Permit)
    case wait
    case refuse
  }

  /// The end of a call's wait.
  struct Release: Hashable {
    let waiter: Waiter
    let permit: Permit
  }

  /// The effect of an event.
  struct Effect: Hashable {
    /// The new status, if it changed.
    var change: ConnectivityStatus?
    /// The calls to resume, in order.
    var released: [Release] = []
  }

  private(set) var status = ConnectivityStatus.unknown
  private var waiters = WaiterQueue<Waiter>()
  private var epoch: UInt64 = 0
  private var probe: UInt64?
  private var nextProbe: UInt64 = 0
  /// The instant until which other calls wait for the probe.
  private var probeUntil = MonotonicInstant(sinceStart: .zero)
  /// The earliest instant for the next probe; `nil` until a call arrives.
  private var probeAt: MonotonicInstant?
  /// The number of consecutive calls that found the device offline.
  private var failures = 0

  /// The waiting calls, in order.
  var waiting: [Waiter] { waiters.all }
  var waitingCount: Int { waiters.count }

  /// The instant at which ``timePassed(_:)`` is due; `nil`: no call waits.
  var wake: MonotonicInstant? {
    guard status == .offline, !waiters.isEmpty else { return nil }
    return probe == nil ? probeAt : probeUntil
  }

  // MARK: Calls

  /// Admits, queues or refuses a call.
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

  /// Processes the evidence of an admitted call.
  mutating func found(_ finding: Finding, _ permit: Permit, now: MonotonicInstant) -> Effect {
    let wasProbe = permit.probe != nil && permit.probe == probe
    if wasProbe { probe = nil }
    switch finding {
    case .reached: return become(.online)
    case .unreachable where permit.epoch == epoch:
      guard status == .offline else { return become(.offline, failures: 1, now: now) }
      guard wasProbe else { return Effect() }
      // While a source is the only evidence, the interval does not grow.
      if failures > 0 { failures += 1 }
      probeAt = now.advanced(by: Self.pause(after: failures))
      return Effect()
    case .unreachable, .nothing:
      // Without a new instant, every waiting call would become a probe now.
      if wasProbe { probeAt = now.advanced(by: Self.pause(after: failures)) }
      return Effect()
    case .untried: return wasProbe ? timePassed(now) : Effect()
    }
  }

  /// Processes the cancellation of an admitted call that has not resumed. If the call was the probe, the next call
  /// becomes the probe.
  mutating func abandoned(_ permit: Permit) -> Effect {
    guard permit.probe != nil, permit.probe == probe, let probeAt else { return Effect() }
    probe = nil
    return timePassed(probeAt)
  }

  /// Removes a call that no longer waits.
  mutating func leave(_ waiter: Waiter) {
    waiters.remove(waiter)
  }

  /// Admits the first waiting call as a probe, if one is due.
  mutating func timePassed(_ now: MonotonicInstant) -> Effect {
    guard !waiters.isEmpty, let permit = beginProbe(now), let first = waiters.popFirst() else { return Effect() }
    return Effect(released: [Release(waiter: first, permit: permit)])
  }

  // MARK: Sources

  /// Processes a status that a source or the app reported.
  mutating func report(_ status: ConnectivityStatus) -> Effect {
    status == self.status ? Effect() : become(status)
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
  ) -> Effect {
    guard next != status else { return Effect() }
    status = next
    epoch += 1
    probe = nil
    self.failures = failures
    probeAt = now?.advanced(by: Self.pause(after: failures))
    guard next != .offline else { return Effect(change: next) }
    let permit = plain
    return Effect(change: next, released: waiters.popAll().map { Release(waiter: $0, permit: permit) })
  }

  /// Returns the interval between probes: 1 second after the first call that found the device offline, doubled with
  /// each further such call up to 30 seconds. If a source is the only evidence, the interval is 30 seconds from the
  /// first call on.
  static func pause(after failures: Int) -> Duration {
    failures == 0 ? .seconds(30) : .seconds(min(30, 1 << min(failures - 1, 5)))
  }
}

import ApusCore

/// One circuit: pure; ``CircuitBreaker`` does what it answers.
///
/// Closed, it counts; open, it refuses until its time is over; half-open, it lets one call through, a probe, and
/// refuses the others. Every change begins a new epoch, and what becomes of calls of an earlier one changes nothing.
struct BreakerState: Hashable {
  /// Lets a call through; its outcome is told with it, once.
  struct Permit: Hashable {
    fileprivate let epoch: UInt64
    /// Whether the call is the one that shows how the server is.
    let isProbe: Bool
  }

  enum Admission: Hashable {
    case pass(Permit)
    case refuse(after: Duration?)
  }

  /// What a call's end says of the server.
  enum Outcome: Hashable {
    /// It works.
    case answered
    /// It does not; `isGateway`: nobody got through to it at all. With the time that a 503 asks to wait.
    case failed(isGateway: Bool, retryAfter: Duration? = nil)
    /// Nothing: the call was cancelled, or failed by itself.
    case nothing
  }

  /// What changed.
  enum Change: Hashable {
    case opened(for: Duration)
    case closed
  }

  private enum Phase: Hashable {
    case closed(since: MonotonicInstant)
    case open(until: MonotonicInstant)
    /// With the instant at which the last probe began, and whether it is still under way.
    case halfOpen(MonotonicInstant, isUnderWay: Bool)
    case isolated
  }

  let policy: BreakerPolicy
  private var phase = Phase.closed(since: MonotonicInstant(sinceStart: .zero))
  private var window: BreakerWindow
  private var gatewayFailures = 0
  /// How often it opened without being well for a while in between.
  private var strength = 0
  /// Until when a server asked not to be called.
  private var told: MonotonicInstant?
  private var epoch: UInt64 = 0

  init(_ policy: BreakerPolicy) {
    self.policy = policy
    window = BreakerWindow(policy.window)
  }

  var status: BreakerStatus {
    switch phase {
    case .closed: .closed
    case .open(let until): .open(until: until)
    case .halfOpen: .halfOpen
    case .isolated: .isolated
    }
  }

  /// Whether nothing of use would be lost if it began anew: nobody has called for so long that what it knows is old.
  func isIdle(at now: MonotonicInstant) -> Bool {
    switch phase {
    case .closed(let since): window.counts(at: now).total == 0 && strength <= healthyIntervals(since, now)
    // Whoever had called since would have been let through to see.
    case .open(let until): until.advanced(by: longestOpening) <= now
    case .halfOpen(let since, _): since.advanced(by: longestOpening * 2) <= now
    case .isolated: false
    }
  }

  // MARK: Calls

  /// A call wants through.
  mutating func admit(at now: MonotonicInstant) -> Admission {
    switch phase {
    case .closed: return .pass(Permit(epoch: epoch, isProbe: false))
    case .open(let until): return now < until ? .refuse(after: now.duration(to: until)) : probe(now)
    case .halfOpen(let since, let isUnderWay):
      // A probe that never ends must not keep the circuit open for ever.
      guard isUnderWay, now < since.advanced(by: longestOpening) else { return probe(now) }
      return .refuse(after: nil)
    case .isolated: return .refuse(after: nil)
    }
  }

  /// A call is over.
  ///
  /// - Parameter jitter: a random number from 0 to 1, so that many clients do not come back at the same moment.
  mutating func end(_ permit: Permit, _ outcome: Outcome, now: MonotonicInstant, jitter: Double) -> Change? {
    guard permit.epoch == epoch else { return nil }
    note(outcome, now)
    switch (phase, outcome) {
    case (.closed, .answered):
      window.add(isFailure: false, at: now)
      gatewayFailures = 0
      return nil
    case (.closed, .failed(let isGateway, _)):
      window.add(isFailure: true, at: now)
      gatewayFailures = isGateway ? gatewayFailures + 1 : 0
      return isTooMuch(now) ? open(now, jitter) : nil
    case (.halfOpen, .answered):
      close(now)
      return .closed
    case (.halfOpen, .failed): return open(now, jitter)
    case (.halfOpen(let since, _), .nothing):
      // The next call is the probe.
      phase = .halfOpen(since, isUnderWay: false)
      return nil
    case (.closed, .nothing), (.open, _), (.isolated, _): return nil
    }
  }

  // MARK: By hand

  /// Refuses everything until ``reset(at:)``.
  mutating func isolate() {
    begin(.isolated)
  }

  /// Closes, and forgets everything.
  mutating func reset(at now: MonotonicInstant) {
    strength = 0
    close(now)
  }

  // MARK: Steps

  private mutating func begin(_ next: Phase) {
    epoch += 1
    phase = next
  }

  private mutating func probe(_ now: MonotonicInstant) -> Admission {
    begin(.halfOpen(now, isUnderWay: true))
    return .pass(Permit(epoch: epoch, isProbe: true))
  }

  private mutating func close(_ now: MonotonicInstant) {
    begin(.closed(since: now))
    window.clear()
    gatewayFailures = 0
    told = nil
  }

  private mutating func note(_ outcome: Outcome, _ now: MonotonicInstant) {
    guard case .failed(_, let asked?) = outcome else { return }
    let until = now.advanced(by: min(asked, longestOpening))
    told = told.map { max($0, until) } ?? until
  }

  private func isTooMuch(_ now: MonotonicInstant) -> Bool {
    if gatewayFailures >= max(1, policy.consecutive) { return true }
    let (total, failed) = window.counts(at: now)
    return total >= max(1, policy.minimum) && Double(failed) >= policy.ratio * Double(total)
  }

  private mutating func open(_ now: MonotonicInstant, _ jitter: Double) -> Change {
    if case .closed(let since) = phase { strength = max(0, strength - healthyIntervals(since, now)) }
    let time = openingTime(now, jitter)
    strength = min(strength + 1, 20)
    begin(.open(until: now.advanced(by: time)))
    window.clear()
    gatewayFailures = 0
    told = nil
    return .opened(for: time)
  }

  /// What the server asked for, at least a second and with up to a tenth more; else twice as long as the last time,
  /// with up to a fifth more. Never longer than the policy allows.
  private func openingTime(_ now: MonotonicInstant, _ jitter: Double) -> Duration {
    if let told, told >= now {
      return min(longestOpening, max(.seconds(1), now.duration(to: told)) * (1 + 0.1 * jitter))
    }
    // Room is left for the random part, so that the longest ones differ, too.
    let longest = longestOpening * 5 / 6
    var time = max(.zero, policy.firstOpening)
    for _ in 0..<strength where time < longest { time = time * 2 }
    return min(longestOpening, min(time, longest) * (1 + 0.2 * jitter))
  }

  /// A negative time is none at all.
  private var longestOpening: Duration { max(.zero, policy.longestOpening) }

  /// How many windows have passed since it closed.
  private func healthyIntervals(_ since: MonotonicInstant, _ now: MonotonicInstant) -> Int {
    let intervals = since.duration(to: now) / max(policy.window, .milliseconds(10))
    return Int(min(max(intervals, 0), 1000))
  }
}

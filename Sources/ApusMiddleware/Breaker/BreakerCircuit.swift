import ApusCore

/// Whether one circuit lets exchanges pass, and for how long it does not: a value of which ``BreakerState`` is made.
struct BreakerCircuit {
  enum Phase {
    case closed(since: MonotonicInstant)
    case open(until: MonotonicInstant)
    /// With the instant at which the last trial began, and whether it is still under way.
    case halfOpen(MonotonicInstant, isUnderWay: Bool)
    case isolated
  }

  /// An instant, and a random number from 0 to 1.
  typealias Moment = (now: MonotonicInstant, jitter: Double)

  enum Verdict {
    case pass
    case trial
    case refuse(Duration?)
  }

  private(set) var phase: Phase
  private(set) var epoch: UInt64
  /// When it opened last.
  private(set) var opened = MonotonicInstant(sinceStart: .zero)
  /// The failure that opened it.
  private(set) var cause: FailedAttempt.Cause?
  /// How often it opened without being well for a while in between.
  private var strength = 0
  /// Until when the server asked not to be called.
  private var told: MonotonicInstant?

  /// A closed one.
  init(since now: MonotonicInstant, epoch: UInt64) {
    phase = .closed(since: now)
    self.epoch = epoch
  }

  var status: BreakerStatus {
    switch phase {
    case .closed: .closed
    case .open(let until): .open(until: until)
    case .halfOpen: .halfOpen
    case .isolated: .isolated
    }
  }

  var isClosed: Bool {
    if case .closed = phase { return true }
    return false
  }

  /// Whether it is open, for a time that is not over or is.
  var isOpen: Bool {
    if case .open = phase { return true }
    return false
  }

  /// What it does with an exchange that begins.
  func verdict(at now: MonotonicInstant, _ policy: BreakerPolicy) -> Verdict {
    switch phase {
    case .closed: return .pass
    case .open(let until): return now < until ? .refuse(now.duration(to: until)) : .trial
    case .halfOpen(let since, let isUnderWay):
      // A trial that never ends must not keep the circuit open for ever.
      return isUnderWay && now < since.advanced(by: Self.longest(policy)) ? .refuse(nil) : .trial
    case .isolated: return .refuse(nil)
    }
  }

  /// Whether nothing of use would be lost if it began anew: nobody has called for so long that what it knows is old.
  func isIdle(at now: MonotonicInstant, _ policy: BreakerPolicy) -> Bool {
    switch phase {
    case .closed(let since): strength <= Self.healthyIntervals(since, now, policy)
    // Whoever had called since would have been let through.
    case .open(let until): until.advanced(by: Self.longest(policy)) <= now
    case .halfOpen(let since, _): since.advanced(by: Self.longest(policy) * 2) <= now
    case .isolated: false
    }
  }

  // MARK: Changes

  mutating func isolate(_ epoch: UInt64) {
    (phase, self.epoch, cause) = (.isolated, epoch, nil)
  }

  /// The next exchange is the trial, or one that begins now is it.
  mutating func halfOpen(_ now: MonotonicInstant, isUnderWay: Bool, _ epoch: UInt64) {
    (phase, self.epoch) = (.halfOpen(now, isUnderWay: isUnderWay), epoch)
  }

  /// The trial proved nothing: the next exchange is one.
  mutating func abandonTrial() {
    if case .halfOpen(let since, _) = phase { phase = .halfOpen(since, isUnderWay: false) }
  }

  mutating func close(_ now: MonotonicInstant, _ epoch: UInt64) {
    (phase, self.epoch, told, cause) = (.closed(since: now), epoch, nil, nil)
  }

  /// Opens for the policy's first time, after a failed trial for twice that, and never for longer unless the server asks
  /// for it.
  mutating func openBriefly(
    _ cause: FailedAttempt.Cause, _ moment: Moment, _ epoch: UInt64, _ policy: BreakerPolicy
  ) {
    strength = isClosed ? 0 : 1
    open(cause, moment, epoch, policy)
  }

  mutating func open(_ cause: FailedAttempt.Cause, _ moment: Moment, _ epoch: UInt64, _ policy: BreakerPolicy) {
    let now = moment.now
    if case .closed(let since) = phase { strength = max(0, strength - Self.healthyIntervals(since, now, policy)) }
    let time = openingTime(now, moment.jitter, policy)
    strength = min(strength + 1, 20)
    (phase, self.epoch, told) = (.open(until: now.advanced(by: time)), epoch, nil)
    (opened, self.cause) = (now, cause)
  }

  /// The server asked to wait so long.
  mutating func note(_ asked: Duration?, at now: MonotonicInstant, _ policy: BreakerPolicy) {
    guard let asked else { return }
    let until = now.advanced(by: min(asked, Self.longest(policy)))
    told = told.map { max($0, until) } ?? until
  }

  /// What the server asked for does not count any more.
  mutating func forgetDelay() {
    told = nil
  }

  // MARK: Times

  /// What the server asked for, at least a second and with up to a tenth more; else twice as long as the last time,
  /// with up to a fifth more. Never longer than the policy allows.
  private func openingTime(_ now: MonotonicInstant, _ jitter: Double, _ policy: BreakerPolicy) -> Duration {
    let limit = Self.longest(policy)
    if let told, told >= now { return min(limit, max(.seconds(1), now.duration(to: told)) * (1 + 0.1 * jitter)) }
    // Room is left for the random part, so that the longest ones differ, too.
    let longest = limit * 5 / 6
    var time = max(.zero, policy.firstOpening)
    for _ in 0..<strength where time < longest { time = time * 2 }
    return min(limit, min(time, longest) * (1 + 0.2 * jitter))
  }

  /// A negative time is none at all.
  private static func longest(_ policy: BreakerPolicy) -> Duration { max(.zero, policy.longestOpening) }

  /// How many windows have passed since it closed.
  private static func healthyIntervals(
    _ since: MonotonicInstant, _ now: MonotonicInstant, _ policy: BreakerPolicy
  ) -> Int {
    Int(min(max(since.duration(to: now) / max(policy.window, .milliseconds(10)), 0), 1000))
  }
}

import Synchronization

/// The shell of ``CallLimits``. One alarm of the client's timer enforces all limits of a call.
extension Call {
  /// Sets the deadline of the call, unless an earlier deadline is set.
  func setDeadline(_ instant: MonotonicInstant) {
    setAlarm(at: state.withLock { $0.limits.setDeadline(instant) })
  }

  /// Sets the default limit of the call.
  func setDefaultLimit(_ limit: CallTimeLimit) {
    setAlarm(at: state.withLock { $0.limits.setDefaultLimit(limit) })
  }

  private func setAlarm(at instant: MonotonicInstant?) {
    guard let instant else { return }
    let key = host.timer.schedule(self, at: instant)
    let superfluous = state.withLock { $0.limits.alarmSet(key, at: instant) }
    if let superfluous { host.timer.cancel(superfluous) }
  }

  /// Handles the alarm. Progress does not move the alarm, so the state decides whether the call is over.
  func deadlinePassed() {
    let now = runtime.clock.now
    let leaderContent = snapshot(\.leader)?.snapshot(\.limits.content)
    switch state.withLock({ $0.limits.alarmFired(at: now, leaderContent: leaderContent) }) {
    case .none: break
    case .setAlarm(let instant): setAlarm(at: instant)
    case .endCall: cancel { .deadline($0) }
    }
  }

  /// Notifies a target at an instant of the client's clock.
  func alarm(for target: any DeadlineTarget, at instant: MonotonicInstant) -> DeadlineAlarm {
    DeadlineAlarm(host.timer, host.timer.schedule(target, at: instant))
  }

  /// Shares the exchange of another call. From now on the default limit depends on the content of that exchange.
  func follow(_ leader: Call) {
    let now = runtime.clock.now
    let earlier = leader.snapshot { $0.limits.content.time(at: now) }
    state.withLock { $0.follow(leader, after: earlier) }
  }

  /// Returns the remaining time if no content is transferred from now on, or `nil` without a limit. Zero or negative
  /// once a limit has passed.
  func remaining(at now: MonotonicInstant) -> Duration? {
    snapshot { $0.remaining(at: now) }
  }
}

/// The text of a limit in errors: its name, its value and the modifier that changes it.
extension Call {
  /// Returns the limit that ended the call in a phase, preceded by what the call waited for.
  func passedLimit(in phase: CallPhase) -> String {
    let (limits, waitedFor) = snapshot { ($0.limits, phase == .waiting ? $0.waitedFor : "") }
    let text =
      limits.expiry.flatMap { limits.defaultLimit?.text($0) } ?? hardLimit(limits).map { "exceeded \($0)" } ?? ""
    return waitedFor.isEmpty || text.isEmpty ? waitedFor + text : "\(waitedFor); \(text)"
  }

  /// The limit that ends the call first, or `nil` without a limit.
  var nearestLimit: String? {
    let limits = snapshot(\.limits)
    guard let defaultLimit = limits.defaultLimit, limits.end(at: runtime.clock.now) != limits.deadline else {
      return hardLimit(limits)
    }
    return defaultLimit.name
  }

  private func hardLimit(_ limits: CallLimits) -> String? {
    guard let deadline = limits.deadline else { return nil }
    let time = startInstant.duration(to: deadline)
    if time == options.timeout { return "the call's limit of \(time.plainText); change it with .timeout(_:)" }
    if deadline == inheritedDeadline {
      return "the inherited deadline, \(time.plainText) after its start; change that with withDeadline(_:_:) or the "
        + "outer call's .timeout(_:)"
    }
    return "a limit of \(time.plainText) that a middleware set"
  }
}

extension CallTimeLimit {
  fileprivate var name: String { "the default limit of \(limit.plainText); change it with .timeout(_:)" }

  fileprivate func text(_ expiry: Expiry) -> String {
    switch expiry {
    case .total: "exceeded \(name)"
    case .stall: "exceeded the stall limit of \(stall.plainText); change it with ExchangeTimeouts(stall:)"
    case .floor:
      "content was transferred slower than \(Self.floor) bytes/s over \(Self.window.plainText); allow that with .timeout(_:)"
    }
  }
}

import Synchronization

/// The shell of ``CallLimits``: one alarm of the client's timer for all limits of a call.
extension Call {
  /// Ends the call at an instant, unless an earlier one is set.
  func setDeadline(_ instant: MonotonicInstant) {
    setAlarm(at: state.withLock { $0.isEnded ? nil : $0.limits.limit(to: instant) })
  }

  /// Gives the call the default limit.
  func setLimit(_ limit: CallTimeLimit) {
    setAlarm(at: state.withLock { $0.isEnded ? nil : $0.limits.limit(by: limit) })
  }

  private func setAlarm(at instant: MonotonicInstant?) {
    guard let instant else { return }
    let key = client.timer.schedule(self, at: instant)
    let superfluous = state.withLock { $0.isEnded ? key : $0.limits.armed(key, at: instant) }
    if let superfluous { client.timer.cancel(superfluous) }
  }

  /// The alarm rang: progress moves no alarm, so the state says whether the call is over.
  func deadlinePassed() {
    let now = runtime.clock.now
    let shared = snapshot(\.leader)?.snapshot(\.limits.movement)
    switch state.withLock({ $0.alarmRang(at: now, shared) }) {
    case .nothing: break
    case .again(let instant): setAlarm(at: instant)
    case .over: cancel { .deadline($0) }
    }
  }

  /// Takes over another call's exchange: this call's default limit heeds the content of that.
  func follow(_ leader: Call) {
    let now = runtime.clock.now
    let earlier = leader.snapshot { $0.limits.movement.time(at: now) }
    state.withLock { state in
      guard !state.isEnded else { return }
      state.leader = leader
      state.limits.shareExchange(after: earlier)
    }
  }

  /// How much time is left unless content moves from now on, not positive once the call's time is up; `nil`: any.
  func remaining(at now: MonotonicInstant) -> Duration? {
    state.withLock { state in
      if case .deadline = state.reason { return .zero }
      return state.limits.end(at: now).map { now.duration(to: $0) }
    }
  }
}

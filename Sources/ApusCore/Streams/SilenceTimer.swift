import Synchronization

/// A timeout for the time without a byte while the app waits for content. Runs the state machine ``SilenceState``.
///
/// It uses the client's timer, so that it works with every transport.
final class SilenceTimer: DeadlineTarget {
  private let state: Mutex<SilenceState<DeadlineTimer.Key>>
  private let timer: DeadlineTimer
  private let clock: any MonotonicClock
  private let onExpiry: @Sendable () -> Void

  /// Creates a timer that does not run.
  ///
  /// - Parameters:
  ///   - limit: the maximum time without a byte.
  ///   - host: the client with the timer and the clock.
  ///   - onExpiry: called on any thread when the limit has passed.
  init(_ limit: Duration, _ host: CallHost, onExpiry: @escaping @Sendable () -> Void) {
    state = Mutex(SilenceState(limit: limit))
    (timer, clock, self.onExpiry) = (host.timer, host.runtime.clock, onExpiry)
  }

  /// Begins to wait for a piece.
  func begin() {
    let now = clock.now
    setAlarm(at: state.withLock { $0.begin(at: now) })
  }

  /// Ends the wait for a piece.
  func end() {
    state.withLock { $0.end() }
  }

  /// Ends the timer permanently, so that the client's timer does not retain it.
  func stop() {
    if let key = state.withLock({ $0.stop() }) { timer.cancel(key) }
  }

  func deadlinePassed() {
    let now = clock.now
    switch state.withLock({ $0.alarmFired(at: now) }) {
    case .nothing: break
    case .again(let instant): setAlarm(at: instant)
    case .expired: onExpiry()
    }
  }

  private func setAlarm(at instant: MonotonicInstant?) {
    guard let instant else { return }
    let key = timer.schedule(self, at: instant)
    if let superfluous = state.withLock({ $0.armed(key, at: instant) }) { timer.cancel(superfluous) }
  }
}

/// The wait for a piece and its alarm. A pure state machine.
///
/// A piece does not move the alarm: whether the limit has passed is checked when the alarm fires.
struct SilenceState<Key> {
  /// The action to perform when the alarm fires.
  enum AlarmAction: Hashable {
    case nothing
    case again(at: MonotonicInstant)
    case expired
  }

  private let limit: Duration
  /// The instant at which the wait expires, or `nil` if the app does not wait.
  private var due: MonotonicInstant?
  private var alarm: (instant: MonotonicInstant, key: Key)?
  private var isStopped = false

  init(limit: Duration) {
    self.limit = limit.bounded
  }

  /// Begins a wait. Returns the instant for which to set an alarm, or `nil` if none is needed.
  mutating func begin(at now: MonotonicInstant) -> MonotonicInstant? {
    guard !isStopped else { return nil }
    let due = now.advanced(by: limit)
    self.due = due
    // An alarm for the past has fired, or is firing on another thread.
    if let alarm, alarm.instant > now { return nil }
    return due
  }

  mutating func end() {
    due = nil
  }

  /// Records an alarm. Returns the alarm to cancel, if any.
  mutating func armed(_ key: Key, at instant: MonotonicInstant) -> Key? {
    if isStopped { return key }
    defer { alarm = (instant, key) }
    return alarm?.key
  }

  mutating func alarmFired(at now: MonotonicInstant) -> AlarmAction {
    alarm = nil
    guard let due, !isStopped else { return .nothing }
    guard due <= now else { return .again(at: due) }
    self.due = nil
    return .expired
  }

  /// Ends the timer. Returns the alarm to cancel, if any.
  mutating func stop() -> Key? {
    isStopped = true
    defer { (due, alarm) = (nil, nil) }
    return alarm?.key
  }
}

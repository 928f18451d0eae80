/// An alarm that was set, see ``CallContext/alarm(for:)``.
public struct DeadlineAlarm: Sendable {
  private let timer: DeadlineTimer
  private let key: DeadlineTimer.Key

  init(_ timer: DeadlineTimer, _ key: DeadlineTimer.Key) {
    (self.timer, self.key) = (timer, key)
  }

  /// Takes the alarm back, and lets its target go; does nothing once it has rung. One that is ringing at this moment
  /// may still be heard.
  public func cancel() {
    timer.cancel(key)
  }
}

/// Something that is told when an instant has come, see ``CallContext/alarm(for:)``.
public protocol DeadlineTarget: AnyObject, Sendable {
  /// The instant has come. Called from any thread, outside of every lock: be quick.
  func deadlinePassed()
}

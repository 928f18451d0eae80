import ApusCore

/// Which of the environment's authentications a call goes on without, since it had credentials of its own in their
/// place and has lost them on the way.
enum ForgoneAuthentications: ContextKey {
  static let defaultValue: Set<ObjectIdentifier> = []
}

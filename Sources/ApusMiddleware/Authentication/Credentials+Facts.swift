public import ApusCore

extension Credentials: SelfDescribing {
  /// Whether somebody is told of sessions that are over. The credentials themselves, and how they are shown,
  /// are the environment's.
  public var facts: [Fact] { tellsOfEnds ? [.setting("tells of the ends of sessions", "")] : [] }
}

public import ApusCore

extension Credentials: SelfDescribing {
  /// Whether somebody is told of credentials that a server refuses. The credentials themselves, and how they are shown,
  /// are the environment's.
  public var facts: [Fact] { tellsOfRefusals ? [.setting("tells of refusals", "")] : [] }
}

public import ApusCore

extension ConnectivityGate: SelfDescribing {
  /// What calls do without a network that say nothing else.
  public var facts: [Fact] { [.setting("without a network", standard.rawValue)] }
}

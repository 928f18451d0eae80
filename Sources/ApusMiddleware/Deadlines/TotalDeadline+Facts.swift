public import ApusCore

extension TotalDeadline: SelfDescribing {
  /// The limit of calls that set none.
  public var facts: [Fact] { [.totalLimit(standard)] }
}

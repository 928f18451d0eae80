public import ApusCore

extension AttemptDeadline: SelfDescribing {
  /// The limit of attempts of calls that set none.
  public var facts: [Fact] { [.attemptLimit(standard)] }
}

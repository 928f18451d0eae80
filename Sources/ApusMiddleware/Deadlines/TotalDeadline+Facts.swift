public import ApusCore

extension TotalDeadline: SelfDescribing {
  /// The limit of calls that set none.
  public var facts: [Fact] {
    guard standard != nil else { return [.totalLimit(nil)] }
    return [.totalLimit(standard), .setting("not while content moves", "")]
  }
}

extension JoinCalls: SelfDescribing {
  /// How far calls share that did not name each other.
  var facts: [Fact] {
    [
      .setting("joined up to", "\(limits.sharedBytes) bytes"),
      .setting("\(limits.exchanges) exchanges at a time", ""),
    ]
  }
}

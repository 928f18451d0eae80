public import ApusCore

extension CircuitBreaker: SelfDescribing {
  /// When its circuits open, and for how long.
  public var facts: [Fact] {
    var facts: [Fact] = [
      .failureRatio(policy.ratio, minimum: max(1, policy.minimum), window: policy.window),
      .failuresInARow(max(1, policy.consecutive)),
      .setting("a circuit for each endpoint and one for each origin", ""),
      .time("stays open", policy.firstOpening), .time("at most", policy.longestOpening),
    ]
    if policy.countsThrottling { facts.append(.setting("counts 429", "")) }
    return facts
  }
}

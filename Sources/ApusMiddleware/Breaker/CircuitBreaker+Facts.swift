public import ApusCore

extension CircuitBreaker: SelfDescribing {
  /// When it opens, and for how long.
  public var facts: [Fact] {
    var facts: [Fact] = [
      .failureRatio(policy.ratio, minimum: max(1, policy.minimum), window: policy.window),
      .failuresInARow(max(1, policy.consecutive)), .time("stays open", policy.firstOpening),
      .time("at most", policy.longestOpening),
    ]
    if policy.countsThrottling { facts.append(.setting("counts 429", "")) }
    return facts
  }
}

public import ApusCore

extension Retry: SelfDescribing {
  /// The policy of calls that have none of their own, and the budget.
  public var facts: [Fact] {
    guard standard.attempts > 1 else { return [.attempts(1)] }
    let budget = budgets.budget
    var facts: [Fact] = [
      .attempts(standard.attempts), .pauses(first: standard.base, longest: standard.longestPause),
      .time("after status 429 from", standard.throttledBase), serverDelay,
      .budget(capacity: budget.capacity, cost: max(0, budget.cost)),
    ]
    if standard.statuses != RetryPolicy.standardStatuses {
      facts.append(.setting("statuses", standard.statuses.sorted().map { "\($0)" }.joined(separator: " ")))
    }
    if let rule = standard.rule { facts.append(.setting("rule", rule.name)) }
    if standard.repeatsUnsafe { facts.append(.setting("unsafe calls where a server asks for it", "")) }
    return facts
  }

  private var serverDelay: Fact {
    switch standard.serverDelay {
    case .honoured(let limit): .serverDelay(upTo: limit, isClamped: false)
    case .clamped(let limit): .serverDelay(upTo: limit, isClamped: true)
    }
  }
}

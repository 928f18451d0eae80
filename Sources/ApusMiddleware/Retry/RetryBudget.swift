/// How much is tried again at one server, all calls of a client together: who tries everything again three times makes
/// a server that has too much to do three times as busy.
///
/// There is so much to spend at each origin. Each further attempt takes something out, and what succeeds of the calls
/// that may be tried again gives it back: after a further attempt what that one took, else ``refund``. Where it is used up calls fail with their first error
/// (`isRetryBudgetExhausted`).
public struct RetryBudget: Sendable, Hashable {
  /// How much there is to spend at one origin. Default: 500.
  public var capacity = 500
  /// What an attempt costs; nothing after one that had no network. Default: 14.
  public var cost = 14
  /// What an attempt costs after the server said that there are too many requests (429): then it is known to live.
  /// Default: 5.
  public var throttledCost = 5
  /// What a call that may be tried again gives back when it succeeds at once. Default: 1.
  public var refund = 1

  /// The defaults.
  public init() {}

  /// The defaults.
  public static let standard = RetryBudget()
  /// Further attempts cost nothing.
  public static let unlimited: RetryBudget = {
    var budget = RetryBudget()
    (budget.cost, budget.throttledCost) = (0, 0)
    return budget
  }()
}

import ApusCore
import Synchronization

/// A budget that limits the retries to each origin, over all calls of a client, so that retries do not multiply the
/// load of an overloaded server.
///
/// A retry spends a part of the origin's budget. The success of a retryable call refunds the cost of its last retry, or
/// 1 if its first attempt succeeded. A retry after status 429 costs 5, because the server is alive. When the budget is
/// exhausted, calls fail with their first error (`.budgetExhausted`).
public struct RetryBudget: Sendable, Hashable {
  /// The budget of an origin. Default: 500.
  public var capacity = 500
  /// The cost of a retry. A retry after an attempt without a network is free. Default: 14.
  public var cost = 14
  /// The cost of a retry after status 429. It is lower than ``cost``, because the server is alive. Default: 5.
  package var throttledCost = 5
  /// The refund for a retryable call whose first attempt succeeds. Default: 1.
  package var refund = 1

  /// Creates a budget with the defaults.
  public init() {}

  /// The default budget.
  public static let `default` = RetryBudget()
  /// A budget without a limit: retries are free.
  public static let unlimited: RetryBudget = {
    var budget = RetryBudget()
    (budget.cost, budget.throttledCost) = (0, 0)
    return budget
  }()
}

/// The retry budgets of one client. Their state is a ``RetryBudgetState``.
final class RetryBudgets: Sendable {
  let budget: RetryBudget
  private let state: Mutex<RetryBudgetState>

  init(_ budget: RetryBudget) {
    self.budget = budget
    state = Mutex(RetryBudgetState(capacity: budget.capacity))
  }

  /// Spends the cost of a retry. Without an origin the retry is free, because no server is reached.
  func withdraw(_ cost: Int, at origin: Origin?) -> Bool {
    guard let origin else { return true }
    return state.withLock { $0.withdraw(cost, at: origin) }
  }

  /// Refunds the budget for the success of a call.
  func succeeded(_ request: RequestMessage, lastCost: Int? = nil) {
    // The origin is needed only if something was spent.
    guard !state.withLock({ $0.isUntouched }), let origin = request.origin else { return }
    state.withLock { $0.deposit(lastCost ?? budget.refund, at: origin) }
  }
}

/// The spent part of the retry budget of each origin. A pure state machine.
struct RetryBudgetState: Hashable {
  /// The maximum number of stored origins. Beyond this number, the origin that has spent least is removed.
  static let limit = 1024

  let capacity: Int
  /// The spent amounts of origins with retries.
  private(set) var spent: [Origin: Int] = [:]

  init(capacity: Int) {
    self.capacity = max(0, capacity)
  }

  /// Whether no origin has spent anything.
  var isUntouched: Bool { spent.isEmpty }

  /// Returns the remaining budget of an origin.
  func rest(at origin: Origin) -> Int { capacity - (spent[origin] ?? 0) }

  /// Spends a cost. Returns `false`, and spends nothing, if the remaining budget is lower.
  mutating func withdraw(_ cost: Int, at origin: Origin) -> Bool {
    guard cost > 0 else { return true }
    guard cost <= rest(at: origin) else { return false }
    if spent[origin] == nil, spent.count >= Self.limit, let least = spent.min(by: { $0.value < $1.value })?.key {
      spent[least] = nil
    }
    spent[origin, default: 0] += cost
    return true
  }

  /// Refunds an amount, up to the capacity.
  mutating func deposit(_ amount: Int, at origin: Origin) {
    guard amount > 0, let debt = spent[origin] else { return }
    spent[origin] = amount < debt ? debt - amount : nil
  }
}

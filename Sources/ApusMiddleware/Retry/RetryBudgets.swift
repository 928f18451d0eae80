import ApusCore
import Synchronization

/// The budgets of one client: does what a ``RetryBudgetState`` says, for calls on any thread.
final class RetryBudgets: Sendable {
  let budget: RetryBudget
  private let state: Mutex<RetryBudgetState>

  init(_ budget: RetryBudget) {
    self.budget = budget
    state = Mutex(RetryBudgetState(capacity: budget.capacity))
  }

  /// Takes out what an attempt costs. What has no origin reaches no server.
  func withdraw(_ cost: Int, at origin: Origin?) -> Bool {
    guard let origin else { return true }
    return state.withLock { $0.withdraw(cost, at: origin) }
  }

  /// A call has succeeded: gives back what its last attempt took, or a little where that was its first.
  func succeeded(_ request: RequestMessage, lastCost: Int? = nil) {
    // As long as nothing fails the origin need not be known.
    guard !state.withLock({ $0.isUntouched }), let origin = request.origin else { return }
    state.withLock { $0.deposit(lastCost ?? budget.refund, at: origin) }
  }
}

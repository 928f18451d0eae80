import ApusCore
import ApusTesting
import Testing

@testable import ApusMiddleware

@Suite("Retry: the budget")
struct RetryBudgetTests {
  private func origin(_ number: Int) -> Origin { Origin(scheme: "https", host: "h\(number).example", port: 443) }

  @Test("Each origin has its own retry budget, and only origins with retries are stored")
  func origins() {
    var state = RetryBudgetState(capacity: 20)
    #expect(state.withdraw(14, at: origin(1)) == true)
    #expect(state.withdraw(14, at: origin(1)) == false)
    #expect(state.withdraw(14, at: origin(2)) == true)
    #expect(state.rest(at: origin(1)) == 6 && state.rest(at: origin(2)) == 6 && state.rest(at: origin(3)) == 20)
    state.deposit(13, at: origin(1))
    state.deposit(100, at: origin(2))
    state.deposit(5, at: origin(3))
    #expect(state.rest(at: origin(1)) == 19 && state.rest(at: origin(2)) == 20 && state.rest(at: origin(3)) == 20)
    #expect(Set(state.spent.keys) == [origin(1)] && !state.isUntouched)
    state.deposit(1, at: origin(1))
    #expect(state.isUntouched)
  }

  @Test("Extreme costs and refunds do not change a retry budget")
  func absurd() {
    var state = RetryBudgetState(capacity: -5)
    #expect(state.withdraw(1, at: origin(1)) == false)
    #expect(state.withdraw(0, at: origin(1)) == true)
    #expect(state.withdraw(-3, at: origin(1)) == true)
    state.deposit(-3, at: origin(1))
    #expect(state.isUntouched && state.rest(at: origin(1)) == 0)
  }

  @Test("A retry budget stores a bounded number of origins")
  func bounded() {
    var state = RetryBudgetState(capacity: 500)
    for number in 0..<(RetryBudgetState.limit + 100) {
      #expect(state.withdraw(number == 50 ? 3 : 14, at: origin(number)) == true)
    }
    #expect(state.spent.count == RetryBudgetState.limit)
    #expect(state.rest(at: origin(50)) == 500)
    #expect(state.rest(at: origin(RetryBudgetState.limit + 99)) == 486)
  }

  @Test("In any order of events the retry budget matches a ledger", arguments: 0..<50 as Range<UInt64>)
  func ledger(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let capacity = Int.random(in: 0...60, using: &random)
    var state = RetryBudgetState(capacity: capacity)
    var ledger = [capacity, capacity, capacity]
    for _ in 0..<500 {
      let place = Int.random(in: 0..<3, using: &random)
      let amount = Int.random(in: 0...20, using: &random)
      if Bool.random(using: &random) {
        let isGiven = state.withdraw(amount, at: origin(place))
        #expect(isGiven == (amount <= ledger[place]))
        if isGiven { ledger[place] -= amount }
      } else {
        state.deposit(amount, at: origin(place))
        ledger[place] = min(capacity, ledger[place] + amount)
      }
      #expect((0..<3).map { state.rest(at: origin($0)) } == ledger)
    }
    #expect(state.spent.values.allSatisfy { $0 > 0 })
  }

  /// One of several calls that proceed alternately.
  private struct Caller {
    var state: RetryState
    var isOver = false
  }

  @Test("Calls never spend more of a retry budget than its capacity plus refunds", arguments: 0..<50 as Range<UInt64>)
  func interleavings(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var budget = RetryBudgetState(capacity: 100)
    let subject = RetryState.Subject(isIdempotent: true, isKeyed: false)
    var callers = (0..<40).map { _ in Caller(state: RetryState(.server, .default, subject)) }
    let moment = RetryState.Moment(jitter: 0.5, isReplayable: true)
    var (spent, given, refusals) = (0, 0, 0)
    while let index = callers.indices.filter({ !callers[$0].isOver }).randomElement(using: &random) {
      if Int.random(in: 0..<5, using: &random) == 0 {
        let amount = callers[index].state.lastCost ?? RetryBudget.default.refund
        let before = budget.rest(at: origin(1))
        budget.deposit(amount, at: origin(1))
        given += budget.rest(at: origin(1)) - before
        callers[index].isOver = true
        continue
      }
      let status = Bool.random(using: &random) ? 500 : 429
      let decision = callers[index].state.decision(after: .responded(.init(status: status)), moment) { cost in
        guard budget.withdraw(cost, at: origin(1)) else { return false }
        spent += cost
        return true
      }
      if decision == .giveUp(.budgetExhausted) { refusals += 1 }
      if case .giveUp = decision { callers[index].isOver = true }
      #expect(budget.rest(at: origin(1)) == 100 - spent + given)
      #expect((0...100).contains(budget.rest(at: origin(1))))
    }
    #expect(spent - given <= 100 && refusals > 0)
  }
}

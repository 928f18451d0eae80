import Apus
import ApusTesting
import Testing

@Suite("The retry budget after cancelling a call before each of its jobs")
struct BudgetEverywhereTests {
  private static let cost = 14
  private static let rest = 10

  private struct Run {
    var jobs = 0
    /// The number of the call's retries that did not succeed.
    var spent = 0
    /// The number of retries left for later calls.
    var left = 0
  }

  private func run(cancelledBefore step: Int = .max) -> Run {
    var budget = RetryBudget()
    (budget.capacity, budget.cost) = (Self.cost * Self.rest, Self.cost)
    let world = PipelineWorld(.everything, budget: budget)
    let calls = world.start()
    var run = Run()
    for _ in 0..<100_000 {
      if run.jobs == step { world.disturb(.cancelTasks, calls) }
      let next = world.parts.step()
      if next == .nothing { break }
      if next == .job { run.jobs += 1 }
    }
    // A successful attempt refunds its token, even if the call is cancelled afterwards.
    if case .failure(let error)? = world.ledger.outcomes(of: 0).first, !error.trace.hasGoodAnswer {
      run.spent = error.failedAttempts.count { attempt in
        if case .retry(_, .backoff) = attempt.decision { true } else { false }
      }
    }
    run.left = left(in: world)
    return run
  }

  /// Retries a call until the budget is exhausted, and returns the number of retries.
  private func left(in world: PipelineWorld) -> Int {
    var endless = RetryPolicy(maximumAttempts: 1000, baseDelay: .zero)
    endless.maximumDelay = .zero
    let request = Request<Void>.get("/broken").retry(endless).breaker(.none).rateLimit(cost: 0).credentials(.none)
    let exhausted = Log<Bool>()
    let call = Task(executorPreference: world.parts.executor) { [api = world.api] in
      exhausted.add(
        await failure { try await api.send(request) }?.failedAttempts.last?.giveUpReason == .budgetExhausted)
    }
    world.parts.drain()
    call.cancel()
    #expect(exhausted.all == [true])
    return world.parts.stub.exchanges.count { $0.target == "/v1/broken" } - 1
  }

  @Test("Cancelling before any job loses no retry tokens: retries are charged, successes are refunded")
  func everyJob() async {
    let undisturbed = run()
    #expect(undisturbed.jobs >= Scenario.everything.leastJobs)
    #expect(undisturbed.spent == 0 && undisturbed.left == Self.rest)
    var spent: Set<Int> = []
    for step in 0..<undisturbed.jobs {
      let cancelled = run(cancelledBefore: step)
      #expect(cancelled.left == Self.rest - cancelled.spent, "before job \(step)")
      spent.insert(cancelled.spent)
      await Task.yield()
    }
    // The steps include cancellations before and after the failure of the first attempt.
    #expect(spent == [0, 1])
  }
}

extension Trace {
  /// Whether a successful response has been received completely.
  fileprivate var hasGoodAnswer: Bool {
    var isGood = false
    for event in events {
      switch event.kind {
      case .headArrived(let status): isGood = (200..<300).contains(status)
      case .contentArrived where isGood: return true
      default: break
      }
    }
    return false
  }
}

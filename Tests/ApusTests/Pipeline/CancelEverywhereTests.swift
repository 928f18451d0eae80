import Apus
import Testing

@Suite("Calls through the whole pipeline with a disturbance before each of their jobs")
struct CancelEverywhereTests {
  private struct Run {
    var jobs = 0
    /// The outcomes of each call; exactly one in a correct run.
    var outcomes: [[Ledger.Outcome]] = []
    var met: Set<String> = []
  }

  /// Runs calls job by job and disturbs them before job `step`.
  private func run(_ scenario: Scenario, _ disturbance: Disturbance? = nil, before step: Int = .max) -> Run {
    let world = PipelineWorld(scenario)
    let calls = world.start()
    var run = Run()
    var isDisturbed = false
    // The limit exceeds the number of steps of any run, so that an endless loop does not hang the test.
    for _ in 0..<100_000 {
      if run.jobs == step, let disturbance, !isDisturbed {
        world.disturb(disturbance, calls)
        isDisturbed = true
      }
      let next = world.parts.step()
      if next == .nothing { break }
      if next == .job { run.jobs += 1 }
    }
    run.outcomes = (0..<scenario.calls).map { world.ledger.outcomes(of: $0) }
    run.met = world.parts.endings.met
    let place = "\(scenario), \(disturbance.map { "\($0)" } ?? "undisturbed") before job \(step)"
    world.parts.expectQuiet([world.api], place)
    #expect(run.outcomes.allSatisfy { $0.count == 1 }, "outcomes: \(place)")
    world.parts.expectUntroubled(world.api, place)
    world.parts.expectQuiet([world.api], "\(place), afterwards")
    return run
  }

  @Test(
    "With a disturbance before any job, calls end once, nothing leaks, and the next call passes immediately",
    arguments: Scenario.allCases)
  func everyJob(scenario: Scenario) async {
    let undisturbed = run(scenario)
    #expect(undisturbed.jobs >= scenario.leastJobs, "only \(undisturbed.jobs) jobs")
    #expect(undisturbed.met.isSuperset(of: scenario.met), "met only \(undisturbed.met.sorted())")
    for disturbance in scenario.disturbances {
      var changed = 0
      for step in 0..<undisturbed.jobs {
        let disturbed = run(scenario, disturbance, before: step)
        for (before, after) in zip(undisturbed.outcomes, disturbed.outcomes) {
          guard let before = before.first, let after = after.first else { continue }
          #expect(
            isExpected(after, before, disturbance), "\(scenario), \(disturbance) before job \(step): \(after)")
          if !isSame(after, before) { changed += 1 }
        }
        // Yields to other tests, because a run occupies its thread.
        await Task.yield()
      }
      #expect((changed > 0) == (disturbance != .hold), "\(scenario), \(disturbance): \(changed) outcomes changed")
    }
  }

  @Test("The same disturbance before the same job yields the same run")
  func reproducible() {
    let runs = (0..<3).map { _ in run(.everything, .cancelTasks, before: 10) }
    #expect(Set(runs.map(\.jobs)).count == 1)
    let outcomes = runs.flatMap { $0.outcomes.joined() }
    #expect(outcomes.count == 3)
    #expect(zip(outcomes, outcomes.dropFirst()).allSatisfy { isSame($0, $1) })
  }

  @Test("Without a disturbance, each pipeline scenario ends as expected", arguments: Scenario.allCases)
  func endsWell(scenario: Scenario) {
    let outcomes = run(scenario).outcomes.compactMap(\.first)
    #expect(outcomes.count == scenario.calls)
    for (number, outcome) in outcomes.enumerated() {
      switch outcome {
      case .success(let bytes): #expect(bytes == 2)
      // While one call is the circuit's trial, the other call is refused.
      case .failure(let error): #expect(scenario == .halfOpen && number == 1 && error.code == .refused, "\(error)")
      }
    }
  }

  private func isSame(_ after: Ledger.Outcome, _ before: Ledger.Outcome) -> Bool {
    switch (before, after) {
    case (.success(let one), .success(let other)): one == other
    case (.failure(let one), .failure(let other)): one.code == other.code
    default: false
    }
  }

  private func isExpected(_ after: Ledger.Outcome, _ before: Ledger.Outcome, _ disturbance: Disturbance) -> Bool {
    if isSame(after, before) { return true }
    switch (before, after) {
    // If the first call is refused, another call is the circuit's trial.
    case (.failure(let error), .success): return error.code == .refused
    case (_, .failure(let error)): return disturbance.allows(error)
    default: return false
    }
  }
}

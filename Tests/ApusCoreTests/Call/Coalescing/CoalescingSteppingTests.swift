import ApusCore
import ApusTesting
import HTTPTypes
import Testing

@Suite("Coalesced calls, step by step")
struct CoalescingSteppingTests {
  /// The arrival of the response.
  private enum Arrival: CaseIterable {
    case inPieces, refused, broken, noStore, tooLarge

    var answer: StubReply {
      switch self {
      case .inPieces: .pieces(["a", "b"]).after(.seconds(1)).paced(every: .seconds(1))
      case .refused: .status(404, content: "no").after(.seconds(1))
      case .broken: .pieces(["a", "b"]).failing(after: 1)
      case .noStore: .pieces(["a"], fields: [.cacheControl: "no-store"]).paced(every: .seconds(1))
      case .tooLarge: .pieces(["a", "bcdef", "g"]).paced(every: .seconds(1))
      }
    }
  }

  private enum Disturbance: CaseIterable {
    case cancelCalls, cancelOne, cancelTasks, passDeadline
  }

  private struct Run {
    var jobs = 0
    var results: [Result<String, CallError>] = []
  }

  private func run(
    _ arrival: Arrival, _ disturbance: Disturbance? = nil, before step: Int = .max, seed: UInt64? = nil
  ) async -> Run {
    let executor = ManualExecutor()
    let bench = CoalescingBench(executor: executor, limits: CoalescingLimits { $0.sharedBytes = 4 })
    bench.stub.onAny(reply: arrival.answer)
    let tasks = (0..<4).map { _ in
      Task(executorPreference: executor) { await bench.api.result(of: Request<String>.shared.timeout(.seconds(30))) }
    }
    var generator = seed.map { SeededGenerator(seed: $0) }
    var run = Run()
    while true {
      if run.jobs == step, let disturbance { disturb(disturbance, bench, tasks) }
      if runNext(executor, &generator) { run.jobs += 1 } else if !bench.clock.advanceToNextWake() { break }
    }
    for task in tasks { run.results.append(await task.value) }
    let place = "\(arrival), \(disturbance.map { "\($0)" } ?? "undisturbed") before job \(step), seed \(seed ?? 0)"
    #expect(bench.isClean && bench.log.ends.count == tasks.count, "\(place)")
    #expect(executor.pendingJobCount == 0 && bench.clock.sleepers == 0, "\(place)")
    return run
  }

  private func runNext(_ executor: ManualExecutor, _ generator: inout SeededGenerator?) -> Bool {
    guard var present = generator else { return executor.runNext() }
    defer { generator = present }
    return executor.runNext(using: &present)
  }

  private func disturb(
    _ disturbance: Disturbance, _ bench: CoalescingBench, _ tasks: [Task<Result<String, CallError>, Never>]
  ) {
    switch disturbance {
    case .cancelCalls: bench.api.calls.cancelAll()
    case .cancelOne: tasks.first?.cancel()
    case .cancelTasks: for task in tasks { task.cancel() }
    case .passDeadline: bench.clock.advance(by: .seconds(30))
    }
  }

  @Test(
    "Coalesced calls that are disturbed before any job end exactly once and leave no exchange",
    arguments: Arrival.allCases)
  private func everyStep(arrival: Arrival) async {
    let undisturbed = await run(arrival)
    #expect(undisturbed.jobs > 4)
    for disturbance in Disturbance.allCases {
      for step in 0..<undisturbed.jobs {
        let disturbed = await run(arrival, disturbance, before: step)
        for (call, (before, after)) in zip(undisturbed.results, disturbed.results).enumerated() {
          let place = "\(arrival), \(disturbance) before job \(step), call \(call)"
          #expect(isExpected(after, before, of: call, disturbance), "\(place): \(after)")
        }
      }
    }
  }

  @Test("Coalesced calls end exactly once and leave no exchange in any order of jobs", arguments: Arrival.allCases)
  private func anyOrder(arrival: Arrival) async {
    for seed in UInt64(0)..<25 {
      var dice = SeededGenerator(seed: seed &+ 1000)
      let disturbance = Disturbance.allCases.randomElement(using: &dice)
      _ = await run(arrival, disturbance, before: Int.random(in: 0..<40, using: &dice), seed: seed)
    }
  }

  private func isExpected(
    _ after: Result<String, CallError>, _ before: Result<String, CallError>, of call: Int, _ disturbance: Disturbance
  ) -> Bool {
    switch (before, after) {
    case (.success(let one), .success(let other)): return one == other
    case (_, .failure(let error)):
      if before.error?.code == error.code { return true }
      switch disturbance {
      case .cancelCalls, .cancelTasks: return error.isCancellation
      // The other calls are not affected.
      case .cancelOne: return call == 0 && error.isCancellation
      case .passDeadline: return error.code == .timeout
      }
    case (.failure, .success): return false
    }
  }
}

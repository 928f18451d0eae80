import ApusCore
import ApusTesting
import HTTPTypes
import Testing

/// A kind of call to step through job by job.
private struct Scenario: Sendable, CustomTestStringConvertible {
  let name: String
  let answer: StubReply
  /// Makes the calls, each in a task of its own.
  let start: @Sendable (CallBench, ManualExecutor) -> [Task<Result<String, CallError>, Never>]

  var testDescription: String { name }

  static func send(_ request: Request<String>, _ name: String, _ answer: StubReply) -> Scenario {
    Scenario(name: name, answer: answer) { bench, executor in
      [Task(executorPreference: executor) { await bench.api.result(of: request) }]
    }
  }

  static func several(_ policy: DuplicatePolicy, _ name: String, _ answer: StubReply) -> Scenario {
    Scenario(name: name, answer: answer) { bench, executor in
      (0..<3).map { _ in
        let request = Request<String>.get("/").id("one", onDuplicate: policy)
        return Task(executorPreference: executor) { await bench.api.result(of: request) }
      }
    }
  }

  static let all: [Scenario] = [
    send(.get("/"), "a plain call", .text("ok")),
    send(.get("/"), "a slow answer in pieces", .pieces(["a", "b"]).after(.seconds(1)).paced(every: .seconds(1))),
    send(.get("/"), "a refused answer", .status(404, content: "no")),
    send(.get("/"), "an answer that breaks off", .pieces(["a", "b"]).failing(after: 1)),
    send(.get("/").timeout(.seconds(2)), "a call that times out", .stalled),
    send(.get("/").timeout(.seconds(9)), "a call with a deadline", .pieces(["a"]).after(.seconds(1))),
    several(.coalesce, "joined calls", .pieces(["a", "b"]).after(.seconds(1))),
    several(.cancelPrevious, "calls that replace", .text("ok").after(.seconds(1))),
    several(.refuse, "calls that refuse", .text("ok")),
    several(.allow, "calls side by side", .pieces(["a"])),
    Scenario(name: "a streamed call", answer: .pieces(["a", "b"]).paced(every: .seconds(1))) { bench, executor in
      let task = Task(executorPreference: executor) { () -> Result<String, CallError> in
        do throws(CallError) {
          let content = try await bench.api.withResponse(to: Request<String>.get("/")) { response in
            try await response.collect()
          }
          return .success(String(decoding: content, as: UTF8.self))
        } catch {
          return .failure(error)
        }
      }
      return [task]
    },
  ]
}

@Suite("Calls, step by step")
struct SteppingTests {
  /// A disturbance of a call between two jobs.
  enum Disturbance: String, CaseIterable {
    case nothing
    case cancelCalls
    case cancelTasks
  }

  private struct Run {
    var jobs = 0
    var results: [Result<String, CallError>] = []
  }

  /// Runs a scenario job by job, with the disturbance before job `step`.
  private func run(
    _ scenario: Scenario, _ disturbance: Disturbance = .nothing, before step: Int = .max,
    using generator: inout SeededGenerator?
  ) async -> Run {
    let executor = ManualExecutor()
    let bench = CallBench(executor: executor)
    bench.stub.onAny(reply: scenario.answer)
    let tasks = scenario.start(bench, executor)
    let hasEnded = Log<Int>()
    var run = Run()
    while hasEnded.all.count < tasks.count {
      if run.jobs == step {
        switch disturbance {
        case .nothing: break
        case .cancelCalls: bench.api.calls.cancelAll()
        case .cancelTasks: for task in tasks { task.cancel() }
        }
      }
      if runNext(executor, &generator) {
        run.jobs += 1
      } else if !bench.clock.advanceToNextWake() {
        break
      }
    }
    for task in tasks { run.results.append(await task.value) }
    #expect(bench.isClean, "\(scenario.name), \(disturbance) before job \(step)")
    #expect(bench.log.ends.count == tasks.count, "\(scenario.name), \(disturbance) before job \(step)")
    #expect(executor.pendingJobCount == 0)
    #expect(bench.clock.sleepers == 0)
    return run
  }

  private func runNext(_ executor: ManualExecutor, _ generator: inout SeededGenerator?) -> Bool {
    guard var present = generator else { return executor.runNext() }
    defer { generator = present }
    return executor.runNext(using: &present)
  }

  @Test("A call cancelled before any of its jobs ends once and leaves no call or exchange", arguments: Scenario.all)
  private func torture(scenario: Scenario) async {
    var none: SeededGenerator?
    let undisturbed = await run(scenario, using: &none)
    #expect(undisturbed.jobs > 1)
    for disturbance in [Disturbance.cancelCalls, .cancelTasks] {
      for step in 0..<undisturbed.jobs {
        let disturbed = await run(scenario, disturbance, before: step, using: &none)
        for (before, after) in zip(undisturbed.results, disturbed.results) {
          let isExpected = after.error?.code == before.error?.code || after.error?.isCancellation == true
          #expect(isExpected, "\(scenario.name), \(disturbance) before job \(step): \(after)")
        }
        // A call cancelled before its first job sends nothing.
        if step == 0, disturbance == .cancelTasks {
          #expect(disturbed.results.allSatisfy { $0.error?.isCancellation ?? false || $0.error?.code == .refused })
        }
      }
    }
  }

  @Test("In any order of jobs, a call ends once and leaves no call or exchange", arguments: Scenario.all)
  private func interleavings(scenario: Scenario) async {
    for seed in UInt64(0)..<30 {
      var generator: SeededGenerator? = SeededGenerator(seed: seed)
      var dice = SeededGenerator(seed: seed &+ 1000)
      let disturbance = Disturbance.allCases.randomElement(using: &dice) ?? .nothing
      _ = await run(scenario, disturbance, before: Int.random(in: 0..<30, using: &dice), using: &generator)
    }
  }

  @Test("Equal seeds result in equal runs")
  func reproducible() async throws {
    let scenario = try #require(Scenario.all.first { $0.name == "calls that replace" })
    var outcomes: [[String]] = []
    for _ in 0..<2 {
      var generator: SeededGenerator? = SeededGenerator(seed: 42)
      let run = await run(scenario, using: &generator)
      outcomes.append(["\(run.jobs)"] + run.results.map { $0.error.map { "\($0)" } ?? "ok" })
    }
    #expect(outcomes[0] == outcomes[1])
  }
}

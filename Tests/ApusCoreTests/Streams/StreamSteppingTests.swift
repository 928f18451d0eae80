import ApusTesting
import HTTPTypes
import Testing

@testable import ApusCore

/// A stream to step through job by job.
private struct Scenario: Sendable, CustomTestStringConvertible {
  typealias Reading = Task<(elements: [String], error: CallError?), Never>

  let testDescription: String
  let replies: [StubReply]
  let start: @Sendable (StreamBench, ManualExecutor) -> Reading

  static func events(_ name: String, _ replies: StubReply...) -> Scenario {
    Scenario(testDescription: name, replies: replies + [.status(204)]) { bench, executor in
      Task(executorPreference: executor) { await bench.api.stream(.events).all() }
    }
  }

  static let all: [Scenario] = [
    events("responses that end", .events("data: a\n\n"), .events("retry: 1000\ndata: b\n\n")),
    events("a response that breaks off", .events("id: 1\ndata: a\n\n", "x").failing(after: 1), .events("data: b\n\n")),
    events("a silent response", .events("data: a\n\n", "x").stalled(after: 1), .events("data: b\n\n")),
    events("temporary errors", .events("retry: 1000\ndata: a\n\n"), .status(503), .events("data: b\n\n")),
    events("a permanent error", .events("data: a\n\n"), .status(404)),
    events("pieces with pauses", StubReply.events("data: a\n", "\ndata: b\n", "\n").paced(every: .seconds(60))),
    Scenario(testDescription: "lines", replies: [.pieces(["a\nb", "\nc"]).paced(every: .seconds(1))]) {
      bench, executor in
      Task(executorPreference: executor) { await bench.api.stream(Request<LineStream>.get("/events")).all() }
    },
    Scenario(
      testDescription: "a loop that is left", replies: [.events("data: a\n\n", "data: b\n\n").stalled(after: 2)]
    ) { bench, executor in
      Task(executorPreference: executor) {
        do throws(CallError) {
          for try await element in bench.api.stream(.events) where element == "b" { return ([element], nil) }
          return ([], nil)
        } catch {
          return ([], error)
        }
      }
    },
  ]
}

@Suite("Streams, step by step")
struct StreamSteppingTests {
  private enum Disturbance: CaseIterable {
    case nothing
    case cancelCalls
    case cancelTask
  }

  /// Runs a scenario job by job, with the disturbance before job `step`. Returns the number of jobs and the result.
  private func run(
    _ scenario: Scenario, _ disturbance: Disturbance = .nothing, before step: Int = .max
  ) async -> (jobs: Int, elements: [String], error: CallError?) {
    let executor = ManualExecutor()
    let bench = StreamBench(executor: executor)
    bench.stub.on(.get, "/events", replies: scenario.replies)
    let reading = scenario.start(bench, executor)
    var jobs = 0
    while true {
      if jobs == step {
        switch disturbance {
        case .nothing: break
        case .cancelCalls: bench.api.calls.cancelAll()
        case .cancelTask: reading.cancel()
        }
      }
      if executor.runNext() {
        jobs += 1
      } else if !bench.clock.advanceToNextWake() {
        break
      }
    }
    let (elements, error) = await reading.value
    #expect(bench.isClean, "\(scenario.testDescription), \(disturbance) before job \(step)")
    #expect(executor.pendingJobCount == 0)
    #expect(bench.clock.sleepers == 0)
    return (jobs, elements, error)
  }

  @Test("A stream cancelled before any of its jobs ends and leaves no call or exchange", arguments: Scenario.all)
  private func torture(scenario: Scenario) async {
    let undisturbed = await run(scenario)
    #expect(undisturbed.jobs > 1)
    for disturbance in [Disturbance.cancelCalls, .cancelTask] {
      for step in 0..<undisturbed.jobs {
        let disturbed = await run(scenario, disturbance, before: step)
        let place: Comment = "\(scenario.testDescription), \(disturbance) before job \(step): \(disturbed)"
        #expect(undisturbed.elements.starts(with: disturbed.elements), place)
        let isExpected = disturbed.error?.code == undisturbed.error?.code || disturbed.error?.isCancellation == true
        #expect(isExpected, place)
        if step == 0, disturbance == .cancelTask { #expect(disturbed.error?.isCancellation == true, place) }
      }
    }
  }
}

import Apus
import ApusTesting
import Synchronization
import Testing

/// The kinds of calls that are run job by job.
private enum SteppedCall: String, CaseIterable {
  case buffered, buffered401, inPieces, streamed, streamedPartly, joined

  var answer: StubReply {
    switch self {
    case .buffered, .joined: .text("ab").after(.seconds(1))
    case .buffered401: .status(401)
    case .inPieces: .pieces(["a", "b"]).paced(every: .seconds(1))
    case .streamed, .streamedPartly: .pieces(["a", "b"]).after(.seconds(1)).paced(every: .seconds(1))
    }
  }

  /// Starts the calls, each in a task that runs on the executor.
  func start(_ api: Client, _ executor: ManualExecutor) -> [Task<Result<Int, CallError>, Never>] {
    let request = Request<String>.get("/users/\(7)").id("one", onDuplicate: .coalesce).timeout(.seconds(30))
    return (0..<(self == .joined ? 3 : 1)).map { _ in
      Task(executorPreference: executor) {
        do throws(CallError) {
          switch self {
          case .buffered, .buffered401, .inPieces, .joined: return .success(try await api.send(request).utf8.count)
          case .streamed:
            return .success(try await api.withResponse(to: request) { try await $0.collect().count })
          case .streamedPartly:
            return .success(try await api.withResponse(to: request) { try await $0.next()?.count ?? 0 })
          }
        } catch {
          return .failure(error)
        }
      }
    }
  }
}

/// An observer that counts the ends of each call.
private final class Ends: CallObserver {
  private let counts = Mutex<[UInt64: Int]>([:])
  var all: [Int] { counts.withLock { Array($0.values) } }

  func observe(_ event: TraceEvent, of call: CallEntry) {
    switch event.kind {
    case .succeeded, .failed: counts.withLock { $0[call.serial, default: 0] += 1 }
    default: break
    }
  }
}

@Suite("Calls through the default pipeline, step by step")
struct DefaultPipelineSteppingTests {
  private enum Disturbance: CaseIterable {
    case cancelCalls, cancelTasks, signOut, passDeadline
  }

  private struct Run {
    var jobs = 0
    var results: [Result<Int, CallError>] = []
    var exchanges: [StubExchange] = []
  }

  private func run(_ scenario: SteppedCall, _ disturbance: Disturbance? = nil, before step: Int = .max) async throws
    -> Run
  {
    let (executor, clock, ends, stub) = (ManualExecutor(), ManualClock(.manual), Ends(), StubTransport())
    let tokens = MemoryCredentialsStore(token: "t")
    stub.onAny(reply: scenario.answer)
    let api = Client(baseURL: "https://x.test/v1", transport: stub) {
      $0.authentication = .bearer(tokens)
      $0.setField("X-App", "a")
      $0.query = ["lang": "en"]
      $0.settings.runtime = Runtime(clock: clock, executor: executor)
      $0.observers = [ends]
    }
    let calls = scenario.start(api, executor)
    var run = Run()
    while true {
      if run.jobs == step {
        switch disturbance {
        case nil: break
        case .cancelCalls: api.calls.cancelAll()
        case .cancelTasks: for call in calls { call.cancel() }
        case .signOut: tokens.clear()
        case .passDeadline: clock.advance(by: .seconds(30))
        }
      }
      if executor.runNext() { run.jobs += 1 } else if !clock.advanceToNextWake() { break }
    }
    for call in calls { run.results.append(await call.value) }
    run.exchanges = stub.exchanges
    let place = "\(scenario), \(disturbance.map { "\($0)" } ?? "undisturbed") before job \(step)"
    #expect(api.calls.isEmpty && stub.openExchanges.isEmpty, "\(place)")
    #expect(ends.all == Array(repeating: 1, count: calls.count), "\(place)")
    #expect(executor.pendingJobCount == 0 && executor.jobCount == run.jobs && clock.sleepers == 0, "\(place)")
    return run
  }

  @Test(
    "With a disturbance before any of its jobs, a call ends once and leaks nothing", arguments: SteppedCall.allCases)
  private func everyStep(scenario: SteppedCall) async throws {
    let undisturbed = try await run(scenario)
    #expect(undisturbed.jobs > 1)
    #expect(undisturbed.exchanges.count == 1)
    #expect(undisturbed.exchanges[0].target == "/v1/users/7?lang=en")
    #expect(undisturbed.exchanges[0].fields[.authorization] == "Bearer t")
    for disturbance in Disturbance.allCases {
      for step in 0..<undisturbed.jobs {
        let disturbed = try await run(scenario, disturbance, before: step)
        for (before, after) in zip(undisturbed.results, disturbed.results) {
          #expect(isExpected(after, before, disturbance), "\(scenario), \(disturbance) before job \(step): \(after)")
        }
        for exchange in disturbed.exchanges {
          // Every sent request is complete and has credentials.
          #expect(
            exchange.target == "/v1/users/7?lang=en" && exchange.fields[.authorization] ?? "Bearer t" == "Bearer t")
        }
      }
    }
  }

  private func isExpected(
    _ after: Result<Int, CallError>, _ before: Result<Int, CallError>, _ disturbance: Disturbance
  ) -> Bool {
    switch (before, after) {
    case (.success(let one), .success(let other)): return one == other
    case (_, .failure(let error)):
      if case .failure(let undisturbed) = before, undisturbed.code == error.code { return true }
      return switch disturbance {
      case .passDeadline: error.code == .timeout
      case .signOut: error.underlying is PrincipalChangedError
      default: error.isCancellation
      }
    case (.failure, .success): return false
    }
  }
}

import ApusCore
import ApusTesting
import Synchronization
import Testing

@testable import ApusMiddleware

@Suite("Scheduling, step by step")
struct SchedulingSteppingTests {
  /// A disturbance of calls.
  enum Disturbance: CaseIterable {
    case cancelCalls, cancelFirst, cancelTasks, passDeadline, hold
  }

  /// The kind of responses.
  enum Way: CaseIterable {
    case buffered, streamed, failing, pausing
  }

  private struct Run {
    var jobs = 0
    var results: [Result<Void, CallError>] = []
    var exchanges = 0
    /// The instant at which the last call ended.
    var time = Duration.zero
  }

  /// Calls over a scheduler with a global limit of one.
  private struct World {
    let executor = ManualExecutor()
    let clock = ManualClock(.manual)
    let stub = StubTransport()
    let scheduler = Scheduler(ConcurrencyLimits(global: 1))
    let way: Way
    let api: Client

    init(_ way: Way) {
      self.way = way
      switch way {
      case .buffered, .pausing: stub.onAny(reply: .text("ab").after(.seconds(1)))
      case .streamed: stub.onAny(reply: .pieces(["a", "b"]).paced(every: .seconds(1)))
      case .failing: stub.onAny(reply: .failure(TransportError(.connectionLost, requestState: .maybeSent)))
      }
      let scheduler = scheduler
      var client = TestClient()
      client.settings.runtime = Runtime(clock: clock, executor: executor)
      client.timeout = .seconds(30)
      // Calls can return their permit temporarily only if there is authentication.
      if way == .pausing { client.environment.authentication = .bearer(MemoryCredentialsStore(token: "t")) }
      client.customize = {
        $0.insert(SchedulingMiddleware(scheduler), .after(.scheduling))
        if way == .pausing { $0.insert(Pausing(), .after(.authentication)) }
      }
      api = client.over(stub)
    }

    func start() -> [Task<Result<Void, CallError>, Never>] {
      (0..<3).map { number in
        Task(executorPreference: executor) { [way, api] in
          let request = Request<String>.get("/\(number)").tag(number == 0 ? "first" : "other")
          do throws(CallError) {
            if way == .streamed {
              try await api.withResponse(to: request) { _ = try await $0.collect() }
            } else {
              _ = try await api.send(request)
            }
            return .success(())
          } catch {
            return .failure(error)
          }
        }
      }
    }

    func disturb(_ disturbance: Disturbance, _ calls: [Task<Result<Void, CallError>, Never>]) {
      switch disturbance {
      case .cancelCalls: api.calls.cancelAll()
      case .cancelFirst: api.calls.cancel(tag: "first")
      case .cancelTasks: for call in calls { call.cancel() }
      case .passDeadline: clock.advance(by: .seconds(30))
      case .hold:
        scheduler.pauseAll()
        scheduler.pause("other")
      }
    }
  }

  private func run(_ way: Way, _ disturbance: Disturbance? = nil, before step: Int = .max) async -> Run {
    let world = World(way)
    let calls = world.start()
    let start = world.clock.now
    var run = Run()
    var isDisturbed = false
    while true {
      if run.jobs == step, let disturbance, !isDisturbed {
        world.disturb(disturbance, calls)
        isDisturbed = true
      }
      if world.executor.runNext() {
        run.jobs += 1
      } else if world.scheduler.isAllPaused {
        world.scheduler.resumeAll()
        world.scheduler.resume("other")
      } else if !world.clock.advanceToNextWake() {
        break
      } else if !world.api.calls.isEmpty {
        run.time = start.duration(to: world.clock.now)
      }
    }
    for call in calls { run.results.append(await call.value) }
    run.exchanges = world.stub.exchanges.count
    let place = "\(way), \(disturbance.map { "\($0)" } ?? "undisturbed") before job \(step)"
    #expect(world.api.calls.isEmpty && world.stub.openExchanges.isEmpty, "\(place)")
    #expect(world.scheduler.runningCount == 0 && world.scheduler.queuedCount == 0, "\(place)")
    let isIdle = world.scheduler.shared.withLock { $0.state.isIdle }
    #expect(isIdle, "\(place)")
    #expect(world.clock.sleepers == 0, "\(place)")
    return run
  }

  @Test(
    "With a disturbance before any job, scheduled calls end once, and no permit leaks", arguments: Way.allCases)
  func everyStep(way: Way) async {
    let undisturbed = await run(way)
    #expect(undisturbed.jobs > 3)
    #expect(undisturbed.exchanges == 3)
    // Each response takes one second, and all concurrent pauses together take one second.
    if way == .pausing { #expect(undisturbed.time == .seconds(4)) }
    for disturbance in Disturbance.allCases {
      for step in 0..<undisturbed.jobs {
        let disturbed = await run(way, disturbance, before: step)
        for (before, after) in zip(undisturbed.results, disturbed.results) {
          #expect(isExpected(after, before, disturbance), "\(way), \(disturbance) before job \(step): \(after)")
        }
      }
    }
  }

  private func isExpected(
    _ after: Result<Void, CallError>, _ before: Result<Void, CallError>, _ disturbance: Disturbance
  ) -> Bool {
    switch (before, after) {
    case (.success, .success): return true
    case (.failure(let one), .failure(let other)) where one.code == other.code: return true
    case (_, .failure(let error)):
      switch disturbance {
      case .cancelCalls, .cancelFirst, .cancelTasks: return error.isCancellation
      case .passDeadline: return error.code == .timeout
      case .hold: return false
      }
    case (.failure, .success): return false
    }
  }
}

/// A middleware in which calls wait without their permit.
private struct Pausing: Middleware {
  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    let clock = context.clock
    let instant = context.now.advanced(by: .seconds(1))
    try await context.withoutPermit { try await clock.sleep(until: instant) }
    return try await next(request, context: context)
  }
}

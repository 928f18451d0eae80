import ApusCore
import TestSupport
import Testing

@testable import ApusTesting

@Suite("Simulation: runs")
struct SimulationTests {
  /// Simulates a busy minute on a bad network, which uses every source of randomness.
  @Sendable private static func busyMinute(_ world: SimulatedWorld) async throws {
    let server = world.server("api.test") {
      $0.capacity = 8
      $0.queueLimit = 10
      $0.serviceTime = .exponential(mean: .milliseconds(80))
      $0.retryAfter = .seconds(1)
    }
    server.change(at: .seconds(20)) { $0.capacity = 3 }
    server.change(at: .seconds(40)) { $0.capacity = 8 }
    var link = SimulatedLink(latency: .exponential(mean: .milliseconds(30)), loss: 0.02, bandwidth: 100_000)
    link.outages = [Duration.seconds(30)..<Duration.seconds(32)]
    for _ in 0..<10 {
      let api = world.client(of: server, pipeline: .retrying(3, pause: .seconds(1)), over: link)
      world.every(.exponential(mean: .milliseconds(200)), for: .seconds(60)) { number in
        _ = try? await api.send(Request<String>.get("/\(number)"))
      }
    }
  }

  @Test("Two simulation runs with the same seed have equal reports", arguments: [false, true])
  func reproducible(shuffles: Bool) async throws {
    let first = try await Simulation(seed: 7, shufflesJobs: shuffles).run(Self.busyMinute)
    let second = try await Simulation(seed: 7, shufflesJobs: shuffles).run(Self.busyMinute)
    let other = try await Simulation(seed: 8, shufflesJobs: shuffles).run(Self.busyMinute)
    #expect(first.log == second.log)
    #expect(first == second)
    #expect(first != other)
    #expect(first.successes + first.failures == first.count { $0.isStart })
    #expect(first.successes > 1000 && first.failures > 0)
  }

  @Test("A report has the notes of a run with their time")
  func notes() async throws {
    let report = try await Simulation(seed: 1).run { world in
      world.at(.seconds(3)) { world.note("three") }
      try await world.sleep(for: .seconds(5))
      world.note("five of \(world.seed)")
      try await world.sleep(until: .seconds(4))
    }
    #expect(report.log == "3.0 seconds: three\n5.0 seconds: five of 1\n")
    #expect(report.duration == .seconds(5))
    #expect(report.seed == 1)
  }

  @Test("A deadlock fails the run with an error that names the seed, and cancels the work")
  func stuck() async throws {
    let gate = Gate()
    let failureOutcome = await failing(Simulation(seed: 9)) { world in
      try await world.sleep(for: .seconds(2))
      try await gate.wait()
    }
    let failure = try #require(failureOutcome)
    guard case .deadlock = failure.reason else { throw failure }
    #expect(failure.seed == 9)
    #expect("\(failure)".contains("Simulation(seed: 9)"))
    #expect("\(failure)".contains("after 2.0 seconds"))
  }

  @Test(
    "The error of a failed run has the code that replays it, with the same job order and limit",
    arguments: [
      (Simulation(seed: 9, shufflesJobs: true), "Simulation(seed: 9, shufflesJobs: true) replays it."),
      (Simulation(seed: 9, limit: .milliseconds(2500)), "Simulation(seed: 9, limit: .seconds(2.5)) replays it."),
    ] as [(Simulation, String)])
  func repeating(simulation: Simulation, text: String) async throws {
    let gate = Gate()
    let outcome = await failing(simulation) { _ in try await gate.wait() }
    let failure = try #require(outcome)
    #expect("\(failure)".hasSuffix(": all tasks wait and nothing is planned. \(text)"))
  }

  @Test("An error thrown by work fails the run and cancels the remaining work")
  func throwing() async throws {
    struct Wrong: Error {}
    let ended = Log<String>()
    let failureOutcome = await failing(Simulation(seed: 1)) { world in
      world.spawn {
        do { try await world.sleep(for: .seconds(9)) } catch { ended.add("\(type(of: error))") }
      }
      try await world.sleep(for: .seconds(1))
      throw Wrong()
    }
    let failure = try #require(failureOutcome)
    guard case .workFailed(let error) = failure.reason else { throw failure }
    #expect(error is Wrong)
    #expect(failure.report.duration == .seconds(1))
    #expect(ended.all == ["CancellationError"])
  }

  @Test("A run that exceeds its limit or loops without time passing fails")
  func endless() async throws {
    let longOutcome = await failing(Simulation(seed: 1, limit: .seconds(60))) { world in
      while true { try await world.sleep(for: .seconds(1)) }
    }
    let long = try #require(longOutcome)
    guard case .limitExceeded = long.reason else { throw long }
    #expect(long.report.duration == .seconds(60))
    var spinning = Simulation(seed: 1)
    spinning.stepsAtOneInstant = 1000
    let roundOutcome = await failing(spinning) { _ in
      while !Task.isCancelled { await Task.yield() }
    }
    let round = try #require(roundOutcome)
    guard case .livelock = round.reason else { throw round }
    #expect(round.report.duration == .zero)
  }

  @Test("Work that ignores cancellation does not block the end of a run, and open exchanges fail")
  func heedless() async throws {
    struct Wrong: Error {}
    let codes = Log<CallError.Code>()
    let outcome = await failing(Simulation(seed: 1)) { world in
      let server = world.server("api.test") { $0.serviceTime = .constant(.seconds(60)) }
      let api = world.client(of: server)
      // Not spawned by the world, so it is never cancelled.
      Task(executorPreference: world.executor) {
        do throws(CallError) {
          _ = try await api.send(Request<String>.get("/"))
        } catch {
          codes.add(error.code)
        }
      }
      world.spawn {
        for _ in 0..<1000 { try? await world.sleep(for: .seconds(1)) }
      }
      try await world.sleep(for: .seconds(5))
      throw Wrong()
    }
    let failure = try #require(outcome)
    #expect(failure.report.duration == .seconds(5))
    #expect(codes.all == [.connectionLost])
  }

  @Test("Cancelling the task ends a simulation run")
  func cancelled() async throws {
    let run = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return await failing(Simulation(seed: 1)) { world in try await world.sleep(for: .seconds(1)) }
    }
    let failure = try #require(await run.value)
    guard case .cancelled = failure.reason else { throw failure }
  }

  @Test("A hundred clients make twenty thousand calls in ten simulated seconds")
  func many() async throws {
    let report = try await Simulation(seed: 3).run { world in
      let server = world.server("api.test")
      for _ in 0..<100 {
        let api = world.client(of: server)
        world.every(.constant(.milliseconds(50)), for: .seconds(10)) { _ in
          try await api.send(Request<Void>.get("/"))
        }
      }
    }
    #expect(report.successes == 100 * 199)
    #expect(report.latency(quantile: 1) == .milliseconds(50))
    #expect(report.load(on: "api.test").mean(in: Duration.seconds(1)..<Duration.seconds(9)) == 2000)
  }

  private func failing(
    _ simulation: Simulation, _ body: @escaping @Sendable (SimulatedWorld) async throws -> Void
  ) async -> SimulationFailure? {
    do {
      _ = try await simulation.run(body)
      return nil
    } catch {
      return error as? SimulationFailure
    }
  }
}

extension SimulationEvent.Kind {
  var isStart: Bool {
    if case .callStarted = self { return true }
    return false
  }
}

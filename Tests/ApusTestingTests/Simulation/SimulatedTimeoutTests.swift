import ApusCore
import TestSupport
import Testing

@testable import ApusTesting

/// A middleware that sets a deadline for every attempt, without retries.
private struct AttemptLimit: Middleware {
  let limit: Duration

  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    var context = context
    context.limitAttempt(to: context.now.advanced(by: limit))
    return try await next(request, context: context)
  }
}

/// The end of a call.
private struct Ending: Sendable, Hashable {
  var code: CallError.Code?
  var phase: CallPhase?
  var requestState: RequestState?
  var after = Duration.zero
}

extension SimulatedWorld {
  fileprivate func ending(by api: Client) async -> Ending {
    var ending = Ending()
    do throws(CallError) {
      try await api.send(Request<Void>.get("/"))
    } catch {
      (ending.code, ending.phase, ending.requestState) = (error.code, error.phase, error.requestState)
    }
    ending.after = now
    return ending
  }
}

@Suite("Simulation: late responses")
struct SimulatedTimeoutTests {
  private func pipeline(_ limit: Duration) -> Pipeline {
    var pipeline = Pipeline()
    pipeline.insert(AttemptLimit(limit: limit), .after(.attemptTimeout))
    return pipeline
  }

  @Test("An attempt that ends at its deadline reports its current phase", arguments: [true, false])
  func phases(leaves: Bool) async throws {
    let endings = Log<Ending>()
    _ = try await Simulation(seed: 1).run { world in
      let server = world.server("api.test") { $0.serviceTime = .constant(.seconds(60)) }
      // A head of 400 bytes takes 0.1 or 10 seconds.
      let link = SimulatedLink(bandwidth: leaves ? 4000 : 40)
      endings.add(await world.ending(by: world.client(of: server, pipeline: pipeline(.seconds(3)), over: link)))
    }
    let expected = Ending(
      code: .timeout, phase: leaves ? .awaitingHead : .connecting, requestState: .maybeSent, after: .seconds(3))
    #expect(endings.all == [expected])
  }

  @Test("An attempt whose response arrives before its deadline succeeds")
  func inTime() async throws {
    let endings = Log<Ending>()
    _ = try await Simulation(seed: 1).run { world in
      let server = world.server("api.test") { $0.serviceTime = .constant(.seconds(2)) }
      endings.add(await world.ending(by: world.client(of: server, pipeline: pipeline(.seconds(3)), over: .ideal)))
      try await world.sleep(for: .seconds(5))
    }
    #expect(endings.all == [Ending(after: .seconds(2))])
  }

  @Test("The attempt's deadline does not limit content on a slow link after the head")
  func bigAnswer() async throws {
    let endings = Log<Ending>()
    _ = try await Simulation(seed: 1).run { world in
      let server = world.server("api.test") {
        $0.serviceTime = .constant(.zero)
        $0.respond = { _ in .bytes(1_199_600) }
      }
      let link = SimulatedLink(latency: .constant(.zero), bandwidth: 100_000)
      let api = world.client(of: server, pipeline: pipeline(.seconds(10)), over: link)
      endings.add(await world.ending(by: api))
      // The head of this call's response is late, because it is queued behind another response.
      world.spawn { try await api.send(Request<Void>.get("/")) }
      try await world.sleep(for: .milliseconds(100))
      let limits = ExchangeTimeouts(firstByte: .seconds(3))
      do throws(CallError) {
        try await api.send(Request<Void>.get("/").setting(ExchangeTimeouts.self, limits))
      } catch {
        endings.add(Ending(code: error.code, phase: error.phase, after: world.now))
      }
    }
    #expect(endings.all.first == Ending(after: .milliseconds(12_004)))
    #expect(endings.all.last?.code == .timeout)
    #expect(endings.all.count == 2)
  }

  @Test("If a response is lost after its head, the call fails with connectionLost, even if the link stalls on loss")
  func lostBehindHead() async throws {
    let endings = Log<Ending>()
    _ = try await Simulation(seed: 1).run { world in
      let server = world.server("api.test") { $0.respond = { _ in .bytes(1_199_600) } }
      let outage = Duration.seconds(5)..<Duration.seconds(20)
      var link = SimulatedLink(latency: .constant(.zero), bandwidth: 100_000, outages: [outage])
      link.stallsOnLoss = true
      endings.add(await world.ending(by: world.client(of: server, pipeline: pipeline(.seconds(10)), over: link)))
    }
    #expect(endings.all.map(\.code) == [.connectionLost])
  }

  @Test("A server discards a disconnected client's queued request if configured to")
  func leaving() async throws {
    let worked = Log<String>()
    _ = try await Simulation(seed: 1).run { world in
      let server = world.server("api.test") {
        ($0.capacity, $0.dropsAbandonedRequests) = (1, true)
        $0.serviceTime = .constant(.seconds(10))
        $0.respond = { request in
          worked.add(request.target)
          return .json("{}")
        }
      }
      let api = world.client(of: server, pipeline: pipeline(.seconds(3)), over: .ideal)
      for _ in 0..<2 { world.spawn { _ = await world.ending(by: api) } }
      try await world.sleep(for: .seconds(30))
    }
    #expect(worked.all == ["/"])
  }
}

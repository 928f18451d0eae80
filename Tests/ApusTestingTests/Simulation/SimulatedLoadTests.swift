import ApusCore
import TestSupport
import Testing

@testable import ApusTesting

@Suite("Simulation: servers under load")
struct SimulatedLoadTests {
  @Test("A server wastes work on disconnected clients unless it discards their requests", arguments: [false, true])
  func leaving(notices: Bool) async throws {
    let worked = Log<String>()
    _ = try await Simulation(seed: 1).run({ world in
      let server = world.server("api.test") {
        ($0.capacity, $0.dropsAbandonedRequests) = (1, notices)
        $0.serviceTime = .constant(.seconds(10))
        $0.respond = { request in
          worked.add(request.target)
          return .json("{}")
        }
      }
      let api = world.client(of: server, over: .ideal)
      world.spawn { _ = try await api.send(Request<String>.get("/first")) }
      let second = Task(executorPreference: world.executor) {
        try await world.sleep(for: .seconds(1))
        _ = try await api.send(Request<String>.get("/second"))
      }
      try await world.sleep(for: .seconds(2))
      second.cancel()
      try await world.sleep(for: .seconds(20))
    })
    #expect(worked.all == (notices ? ["/first"] : ["/first", "/second"]))
  }

  @Test("Retries multiply the requests to a server that is down")
  func retries() async throws {
    func storm(_ pipeline: Pipeline) async throws -> SimulationReport {
      try await Simulation(seed: 11).run({ world in
        let server = world.server("api.test") {
          ($0.capacity, $0.queueLimit) = (10, 1000)
          $0.serviceTime = .constant(.milliseconds(100))
          $0.outages = [Duration.seconds(10)..<Duration.seconds(15)]
        }
        for _ in 0..<20 {
          let api = world.client(of: server, pipeline: pipeline)
          world.every(.exponential(mean: .milliseconds(250)), for: .seconds(40)) { _ in
            _ = try? await api.send(Request<String>.get("/"))
          }
        }
      })
    }
    let (calm, stormy) = (try await storm(Pipeline()), try await storm(.retrying(5)))
    let outage = Duration.seconds(10)..<Duration.seconds(15)
    #expect(stormy.count { $0.isDown } > 3 * calm.count { $0.isDown })
    #expect(calm.goodput().mean(in: outage) < 10)
    #expect(calm.goodput().recoveryTime(to: 60, from: outage.upperBound) != nil)
  }
}

extension SimulationEvent.Kind {
  fileprivate var isDown: Bool {
    if case .down = self { return true }
    return false
  }
}

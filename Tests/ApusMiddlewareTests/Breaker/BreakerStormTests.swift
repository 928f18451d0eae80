import ApusCore
import ApusMiddleware
import ApusTesting
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Circuit breaker: an overloaded server and many endpoints")
struct BreakerStormTests {
  /// The size of the simulations; `APUS_STORM=7` runs the size of docs/resilience.md.
  private static let parts = ProcessInfo.processInfo.environment["APUS_STORM"].flatMap { Int($0) } ?? 2

  @Test(
    "With calls to 20 endpoints, the breaker relieves a server as much as with one endpoint, and recovers as early",
    arguments: BreakerStorm.Trouble.allCases)
  func manyEndpoints(trouble: BreakerStorm.Trouble) async throws {
    let one = try await BreakerStorm(trouble: trouble, endpoints: 1, parts: Self.parts, seed: 1).run()
    let many = try await BreakerStorm(trouble: trouble, endpoints: 20, parts: Self.parts, seed: 1).run()
    #expect(Double(many.requests) <= 1.1 * Double(one.requests))
    let (usual, recovered) = (try #require(one.recovery), try #require(many.recovery))
    #expect(recovered <= usual)
  }

  @Test("If one of ten endpoints responds 503, only calls to that endpoint are refused")
  func failingEndpoint() async throws {
    let report = try await Simulation(seed: 1).run { world in
      let server = world.server("api.test") {
        $0.respond = { request in
          guard request.target == "/items-0" else { return .json("{}") }
          world.note("request")
          return SimulatedResponse(status: 503)
        }
      }
      for _ in 0..<5 {
        var pipeline = Pipeline()
        pipeline.insert(RetryMiddleware(.app), .after(.retry))
        pipeline.insert(CircuitBreaker(.app), .after(.breaker))
        let api = world.client(of: server, pipeline: pipeline)
        for number in 0..<10 {
          let request = Request<Void>.get(RequestPath(stringLiteral: "/items-\(number)"))
          world.every(.exponential(mean: .seconds(2)), for: .seconds(100)) { _ in
            let isAnswered = (try? await api.send(request)) != nil
            world.note(number == 0 ? "failing" : isAnswered ? "answered" : "refused")
          }
        }
      }
    }
    func count(_ note: String) -> Int { report.count { $0 == .note(note) } }
    #expect(count("refused") == 0 && count("answered") > 2000)
    #expect(count("failing") > 200 && count("request") < count("failing") / 2)
  }
}

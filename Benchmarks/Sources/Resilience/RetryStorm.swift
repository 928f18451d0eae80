import Apus
import ApusTesting

/// 1,000 users open an app while its server is down for ten seconds. Each app calls again a second after an error,
/// until a call succeeds. The server's capacity is 150 requests per second, a sixth of the initial load.
struct RetryStorm: Scenario {
  let name: String
  /// The `Retry-After` of a gateway's 503 while the server is down or full. `nil` for no gateway: connections fail
  /// while the server is down, and a full server names no delay.
  let retryAfter: Duration?
  /// The number of endpoints that each app calls in turn until one call succeeds.
  var endpoints = 1

  private static let host = "api.example.com"
  private static let apps = 1000
  // These times are in seconds.
  private static let away = 5..<15
  private static let end = 90

  private static var leaves: Duration { .seconds(away.lowerBound) }
  private static var returns: Duration { .seconds(away.upperBound) }

  func run(seed: UInt64) async throws -> Outcome {
    var outcome = Outcome(name)
    for fleet in Fleet.allCases {
      let report = try await simulate(fleet, seed: seed)
      outcome.add(report)
      // Responses after the last caller gave up are treated as too late.
      let times = report.seconds(of: "answer").filter { $0 <= Double(Self.end) }
      let arrivals = report.load(on: Self.host).padded(until: .seconds(Self.end))
      outcome.draw("arrivals \(fleet.rawValue)", arrivals)
      outcome.draw("answered \(fleet.rawValue)", times.counted(every: 1, until: Double(Self.end)))
      Self.note(fleet.rawValue, arrivals, times, in: &outcome)
    }
    return outcome
  }

  private static func note(
    _ contender: String, _ arrivals: [Double], _ times: [Double], in outcome: inout Outcome
  ) {
    let back = Double(away.upperBound)
    let all = times.count == apps ? times.last.map { $0 - back } : nil
    let most = apps * 95 / 100
    let storm = arrivals[away.upperBound...]
    // The seconds until no caller is left.
    let seconds = all.map { $0.rounded(.up) } ?? Double(end) - back
    let mean = storm.reduce(0, +) / max(1, seconds)
    outcome.note(contender, "arrivals", storm.reduce(0, +))
    outcome.note(contender, "peak", storm.max())
    outcome.note(contender, "mean", mean)
    outcome.note(contender, "peak to mean", storm.max().map { mean > 0 ? $0 / mean : 0 })
    outcome.note(contender, "answered", Double(times.count))
    outcome.note(contender, "most answered", times.count >= most ? times[most - 1] - back : nil)
    outcome.note(contender, "all answered", all)
  }

  private func simulate(_ fleet: Fleet, seed: UInt64) async throws -> SimulationReport {
    try await Simulation(seed: seed).run { world in
      let server = makeServer(in: world)
      var generator = world.generator()
      let opening = DurationDistribution.uniform(Self.leaves...Self.returns)
      for _ in 0..<Self.apps {
        let api = fleet.client(of: server, in: world)
        let start = opening.sample(using: &generator)
        world.spawn {
          try await world.sleep(until: start)
          var number = 0
          while world.now < Duration.seconds(Self.end) {
            let path = endpoints == 1 ? "/" : RequestPath(stringLiteral: "/items-\(number % endpoints)")
            guard (try? await api.send(Request<Void>.method(.get, path))) == nil else { return world.note("answer") }
            number += 1
            try await world.sleep(for: .seconds(1))
          }
        }
      }
    }
  }

  private func makeServer(in world: SimulatedWorld) -> SimulatedServer {
    let (capacity, places) = (15, 500)
    let server = world.server(Self.host) {
      ($0.capacity, $0.queueLimit) = (capacity, places)
      $0.serviceTime = .exponential(mean: .milliseconds(100))
      $0.retryAfter = retryAfter
      if retryAfter == nil { $0.outages = [Self.leaves..<Self.returns] }
    }
    guard retryAfter != nil else { return server }
    server.change(at: Self.leaves) { ($0.capacity, $0.queueLimit) = (0, 0) }
    server.change(at: Self.returns) { ($0.capacity, $0.queueLimit) = (capacity, places) }
    return server
  }
}

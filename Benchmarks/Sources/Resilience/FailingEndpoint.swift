import Apus
import ApusTesting

/// One of ten endpoints of a server responds with 503 for a minute, and the other nine work.
///
/// 20 apps call each endpoint once in two seconds, on average. The server's capacity exceeds the load.
struct FailingEndpoint: Scenario {
  let name: String

  private static let host = "api.example.com"
  private static let apps = 20
  private static let endpoints = 10
  private static let failing = "/items-0"
  // These times are in seconds.
  private static let failure = 10..<70
  private static let end = 100

  func run(seed: UInt64) async throws -> Outcome {
    var outcome = Outcome(name)
    for fleet in Fleet.allCases {
      let report = try await simulate(fleet, seed: seed)
      outcome.add(report)
      let contender = fleet.rawValue
      let end = Double(Self.end)
      let answers = report.goodput(within: Fleet.patience).padded(until: .seconds(Self.end))
      let attempts = report.perSecond(of: "failing request", until: end)
      outcome.draw("answers \(contender)", answers)
      outcome.draw("attempts \(contender)", attempts)
      let answered = report.seconds(of: "answered").count
      let refused = report.seconds(of: "refused").count
      outcome.note(contender, "calls to others", Double(answered + refused))
      outcome.note(contender, "refused", Double(refused))
      outcome.note(contender, "attempts", attempts.mean(in: Self.failure))
      outcome.note(contender, "recovery", Self.recovery(report.seconds(of: "failing call succeeded")))
    }
    return outcome
  }

  private func simulate(_ fleet: Fleet, seed: UInt64) async throws -> SimulationReport {
    try await Simulation(seed: seed).run { world in
      let server = world.server(Self.host) {
        $0.respond = { request in
          guard request.target == Self.failing else { return .json("{}") }
          world.note("failing request")
          let isFailing = Self.failure.contains(Int(world.now / .seconds(1)))
          return SimulatedResponse(status: isFailing ? 503 : 200)
        }
      }
      for _ in 0..<Self.apps {
        let api = fleet.client(of: server, in: world)
        for number in 0..<Self.endpoints {
          let path = "/items-\(number)"
          let request = Request<Void>.method(.get, RequestPath(stringLiteral: path))
          world.every(.exponential(mean: .seconds(2)), for: .seconds(Self.end)) { _ in
            let isAnswered = (try? await api.send(request)) != nil
            guard path == Self.failing else { return world.note(isAnswered ? "answered" : "refused") }
            if isAnswered { world.note("failing call succeeded") }
          }
        }
      }
    }
  }

  /// Returns the time from the end of the failure until the number of calls to which the endpoint has responded equals
  /// the number of apps.
  private static func recovery(_ times: [Double]) -> Double? {
    let back = Double(failure.upperBound)
    let after = times.filter { $0 >= back }
    return after.count >= apps ? after[apps - 1] - back : nil
  }
}

extension SimulationReport {
  /// Returns the number of notes in each second.
  fileprivate func perSecond(of note: String, until end: Double) -> [Double] {
    let times = seconds(of: note)
    return (0..<Int(end)).map { second in
      Double(times.count { $0 >= Double(second) && $0 < Double(second + 1) })
    }
  }
}

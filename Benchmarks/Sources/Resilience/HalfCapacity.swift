import Apus
import ApusTesting

/// A server at a steady load of 70 % loses half of its capacity for a minute.
///
/// 140 apps make one call per second each, on average. The server processes 20 requests concurrently, each in a tenth
/// of a second on average: 200 per second. It processes queued requests in order, even when their callers have given
/// up.
struct HalfCapacity: Scenario {
  let name: String
  /// The length of the server's queue. Behind 500 queued requests a caller gives up before its request is processed,
  /// even at full capacity.
  let places: Int
  /// The number of endpoints that each app calls in turn.
  var endpoints = 1

  private static let host = "api.example.com"
  private static let apps = 140
  private static let lost = 30..<90
  private static let end = 210

  func run(seed: UInt64) async throws -> Outcome {
    var outcome = Outcome(name)
    for fleet in Fleet.allCases {
      let report = try await simulate(fleet, seed: seed)
      outcome.add(report)
      let end = Duration.seconds(Self.end)
      let answers = report.goodput(within: Fleet.patience).padded(until: end)
      let calls = report.calls().padded(until: end)
      let load = report.load(on: Self.host).padded(until: end)
      let contender = fleet.rawValue
      outcome.draw("answers \(contender)", answers)
      outcome.draw("load \(contender)", load)
      let after = Self.lost.upperBound..<Self.lost.upperBound + 60
      outcome.note(contender, "calls during", calls.mean(in: Self.lost))
      outcome.note(contender, "answers during", answers.mean(in: Self.lost))
      outcome.note(contender, "answers after", answers.mean(in: after))
      outcome.note(contender, "load during", load.mean(in: Self.lost))
      outcome.note(contender, "load after", load.mean(in: after))
      outcome.note(contender, "load peak", load.max())
      outcome.note(contender, "recovery", Self.recovery(of: answers, calls))
    }
    return outcome
  }

  private func simulate(_ fleet: Fleet, seed: UInt64) async throws -> SimulationReport {
    try await Simulation(seed: seed).run { world in
      let server = world.server(Self.host) {
        $0.capacity = 20
        $0.queueLimit = places
        $0.serviceTime = .exponential(mean: .milliseconds(100))
      }
      server.change(at: .seconds(Self.lost.lowerBound)) { $0.capacity = 10 }
      server.change(at: .seconds(Self.lost.upperBound)) { $0.capacity = 20 }
      for _ in 0..<Self.apps {
        let api = fleet.client(of: server, in: world)
        world.every(.exponential(mean: .seconds(1)), for: .seconds(Self.end)) { number in
          _ = try? await api.send(endpoint(of: number))
        }
      }
    }
  }

  private func endpoint(of number: Int) -> Request<Void> {
    endpoints == 1
      ? .method(.get, "/items/\(number)") : .method(.get, RequestPath(stringLiteral: "/items-\(number % endpoints)"))
  }

  /// Returns the seconds from the return of the capacity until useful responses keep pace with the calls: from then on,
  /// at least 95 % of the calls in every five seconds have a useful response. `nil`: this does not happen before the
  /// end.
  private static func recovery(of answers: [Double], _ calls: [Double]) -> Double? {
    let window = 5
    var recovered: Double?
    for second in stride(from: end - window, through: lost.upperBound, by: -1) {
      let seconds = second..<second + window
      guard answers.mean(in: seconds) >= 0.95 * calls.mean(in: seconds) else { break }
      recovered = Double(second - lost.upperBound)
    }
    return recovered
  }
}

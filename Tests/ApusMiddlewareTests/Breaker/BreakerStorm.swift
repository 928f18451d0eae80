import ApusCore
import ApusMiddleware
import ApusTesting

/// A simulated fleet of apps and a failing server, in virtual time: smaller versions of the simulations in
/// docs/resilience.md.
struct BreakerStorm: Sendable {
  /// The failure of the server.
  enum Trouble: String, Sendable, CaseIterable {
    /// The server loses half of its capacity for a minute, with a queue for 500 or 50 requests.
    case longQueue, shortQueue
    /// The server is down for ten seconds, or a gateway responds 503 with `Retry-After` instead.
    case away, gateway
  }

  /// The result of a simulation.
  struct Result: Sendable {
    /// The number of requests that arrived or failed to connect. The count starts when the capacity is halved, or when
    /// the server or gateway has recovered.
    var requests: Int
    /// The number of calls with a response in time, or of apps with a response at the end.
    var answers: Int
    /// The seconds after the end of the failure until the rate of responses equals the rate of calls, or until all apps
    /// have a response.
    var recovery: Double?
  }

  private static let host = "api.test"
  private static let lost = 30..<90

  let trouble: Trouble
  let endpoints: Int
  /// The size of the simulation, in sevenths of the full size.
  let parts: Int
  let seed: UInt64

  func run() async throws -> Result {
    switch trouble {
    case .longQueue, .shortQueue: try await halved()
    case .away, .gateway: try await stormed()
    }
  }

  private func client(of server: SimulatedServer, in world: SimulatedWorld) -> Client {
    var pipeline = Pipeline()
    pipeline.insert(TimeoutMiddleware(default: .seconds(30)), .after(.timeout))
    pipeline.insert(RetryMiddleware(.app), .after(.retry))
    pipeline.insert(SchedulingMiddleware(Scheduler(.app)), .after(.scheduling))
    pipeline.insert(AttemptTimeoutMiddleware(default: .seconds(2)), .after(.attemptTimeout))
    pipeline.insert(CircuitBreaker(.app), .after(.breaker))
    return world.client(of: server, pipeline: pipeline)
  }

  private func request(_ number: Int) -> Request<Void> {
    endpoints == 1 ? .get("/items/\(number)") : .get(RequestPath(stringLiteral: "/items-\(number % endpoints)"))
  }

  // MARK: Half the capacity

  private func halved() async throws -> Result {
    let end = 210
    let report = try await Simulation(seed: seed).run { world in
      let (capacity, places) = (20 * parts / 7, (trouble == .longQueue ? 500 : 50) * parts / 7)
      let server = world.server(Self.host) {
        ($0.capacity, $0.queueLimit) = (capacity, places)
        $0.serviceTime = .exponential(mean: .milliseconds(100))
      }
      server.change(at: .seconds(Self.lost.lowerBound)) { $0.capacity = capacity / 2 }
      server.change(at: .seconds(Self.lost.upperBound)) { $0.capacity = capacity }
      for _ in 0..<20 * parts {
        let api = client(of: server, in: world)
        world.every(.exponential(mean: .seconds(1)), for: .seconds(end)) { number in
          _ = try? await api.send(request(number))
        }
      }
    }
    let since = Duration.seconds(Self.lost.lowerBound)
    let answers = report.useful(until: end)
    return Result(
      requests: report.requests(at: Self.host, since: since),
      answers: Int(answers[Self.lost].reduce(0, +)), recovery: Self.recovery(of: answers, report.begun(until: end)))
  }

  /// Returns the first second after which, in each period of five seconds, 95 % of the calls get a response.
  private static func recovery(of answers: [Double], _ calls: [Double]) -> Double? {
    var recovered: Double?
    for second in stride(from: answers.count - 5, through: lost.upperBound, by: -1) {
      let seconds = second..<second + 5
      guard answers[seconds].reduce(0, +) >= 0.95 * calls[seconds].reduce(0, +) else { break }
      recovered = Double(second - lost.upperBound)
    }
    return recovered
  }

  // MARK: A retry storm

  private func stormed() async throws -> Result {
    let (leaves, returns, end) = (Duration.seconds(5), Duration.seconds(15), Duration.seconds(90))
    let apps = 1000 * parts / 7
    let report = try await Simulation(seed: seed).run { world in
      let (capacity, places) = (15 * parts / 7, 500 * parts / 7)
      let server = world.server(Self.host) {
        ($0.capacity, $0.queueLimit) = (capacity, places)
        $0.serviceTime = .exponential(mean: .milliseconds(100))
        if trouble == .gateway { $0.retryAfter = .seconds(5) } else { $0.outages = [leaves..<returns] }
      }
      if trouble == .gateway {
        server.change(at: leaves) { ($0.capacity, $0.queueLimit) = (0, 0) }
        server.change(at: returns) { ($0.capacity, $0.queueLimit) = (capacity, places) }
      }
      var generator = world.generator()
      for _ in 0..<apps {
        let api = client(of: server, in: world)
        let start = DurationDistribution.uniform(leaves...returns).sample(using: &generator)
        world.spawn {
          try await world.sleep(until: start)
          var number = 0
          while world.now < end {
            guard (try? await api.send(request(number))) == nil else { return world.note("answer") }
            number += 1
            try await world.sleep(for: .seconds(1))
          }
        }
      }
    }
    let answers = report.events.filter { $0.kind == .note("answer") }
    let times = answers.map { ($0.time - returns) / Duration.seconds(1) }
    return Result(
      requests: report.requests(at: Self.host, since: returns), answers: times.count,
      recovery: times.count == apps ? times.last : nil)
  }
}

extension SimulationReport {
  /// Returns the number of requests that arrived at a server or failed because the server was down.
  fileprivate func requests(at server: String, since start: Duration) -> Int {
    events.count { event in
      switch event.kind {
      case .arrived(let host, _), .down(let host): host == server && event.time >= start
      default: false
      }
    }
  }

  /// Returns the number of calls in each second that returned a value within two seconds.
  fileprivate func useful(until end: Int) -> [Double] {
    perSecond(until: end) { event in
      guard case .callEnded(_, _, let began, .none) = event.kind else { return false }
      return event.time - began <= .seconds(2)
    }
  }

  /// Returns the number of calls that began in each second.
  fileprivate func begun(until end: Int) -> [Double] {
    perSecond(until: end) { event in
      if case .callStarted = event.kind { return true }
      return false
    }
  }

  private func perSecond(until end: Int, _ isCounted: (SimulationEvent) -> Bool) -> [Double] {
    var counts = [Double](repeating: 0, count: end)
    for event in events where isCounted(event) {
      let second = Int(event.time / .seconds(1))
      if counts.indices.contains(second) { counts[second] += 1 }
    }
    return counts
  }
}

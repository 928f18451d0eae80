import Apus
import ApusTesting
import Testing

/// Small and quick versions of the simulations in docs/resilience.md, which check ratios instead of times.
@Suite("Resilience: fleets of clients and an overloaded server")
struct ResilienceTests {
  private static let host = "api.test"
  private static let lost = Duration.seconds(10)..<Duration.seconds(50)
  private static let end = Duration.seconds(90)

  /// Simulates 14 clients with one call per second each on average, and a server that handles 20 calls per second, and
  /// only 10 during a loss of capacity. Behind a full queue no call gets its response in time, even at full capacity.
  private func halved(_ fleet: ResilienceFleet) async throws -> SimulationReport {
    try await Simulation(seed: 1).run { world in
      let server = world.server(Self.host) {
        $0.capacity = 4
        $0.queueLimit = 60
        $0.serviceTime = .exponential(mean: .milliseconds(200))
      }
      server.change(at: Self.lost.lowerBound) { $0.capacity = 2 }
      server.change(at: Self.lost.upperBound) { $0.capacity = 4 }
      for _ in 0..<14 {
        let api = fleet.client(of: server, in: world)
        world.every(.exponential(mean: .seconds(1)), for: Self.end) { number in
          _ = try? await api.send(Request<Void>.get("/items/\(number)"))
        }
      }
    }
  }

  @Test(
    "During and after a loss of half the capacity, the default retries yield more responses and less load than naive retries"
  )
  func halfCapacity() async throws {
    let (ours, naive) = (try await halved(.ours), try await halved(.naive))
    let after = Self.lost.upperBound..<Self.end
    let all = Self.lost.lowerBound..<Self.end
    #expect(ours.goodput().mean(in: Self.lost) > 1.3 * naive.goodput().mean(in: Self.lost))
    #expect(ours.goodput().mean(in: after) > 2 * naive.goodput().mean(in: after))
    #expect(2 * ours.load(on: Self.host).mean(in: all) < naive.load(on: Self.host).mean(in: all))
    let recovered = try #require(recovery(of: ours))
    let naiveRecovered = recovery(of: naive) ?? .seconds(1000)
    #expect(recovered < naiveRecovered)
  }

  @Test("The same seed yields the same run with all middlewares of the default pipeline")
  func reproducible() async throws {
    let (first, second) = (try await halved(.ours), try await halved(.ours))
    // The reports are compared outside of #expect, which would print both reports.
    let isSame = first == second
    #expect(isSame)
    #expect(first.goodput().values == second.goodput().values)
    #expect(first.load(on: Self.host).values == second.load(on: Self.host).values)
  }

  /// Returns the time after which the goodput has recovered.
  private func recovery(of report: SimulationReport) -> Duration? {
    report.goodput(every: .seconds(5)).recoveryTime(to: 8, from: Self.lost.upperBound, steps: 2)
  }

  // MARK: A storm

  private static let apps = 60
  private static let away = Duration.seconds(1)..<Duration.seconds(11)

  /// Simulates users who open an app while its server is down. Each app repeats its call a second after an error until
  /// the call succeeds. The server handles ten calls per second.
  private func storm(_ fleet: ResilienceFleet) async throws -> SimulationReport {
    try await Simulation(seed: 1).run { world in
      let server = world.server(Self.host) {
        $0.capacity = 2
        $0.queueLimit = 60
        $0.serviceTime = .exponential(mean: .milliseconds(200))
        $0.outages = [Self.away]
      }
      for number in 0..<Self.apps {
        let api = fleet.client(of: server, in: world)
        world.spawn {
          try await world.sleep(until: Self.away.lowerBound + .milliseconds(166 * number))
          while world.now < Duration.seconds(35) {
            guard (try? await api.send(Request<Void>.get("/"))) == nil else { return world.note("answer") }
            try await world.sleep(for: .seconds(1))
          }
        }
      }
    }
  }

  @Test("After an outage, clients with jittered retries get their responses sooner and with fewer requests")
  func retryStorm() async throws {
    let (ours, naive) = (try await storm(.ours), try await storm(.naive))
    let times = ours.times(of: "answer")
    #expect(times.count == Self.apps)
    let last = try #require(times.last)
    let meanwhile = naive.times(of: "answer").filter { $0 <= last }
    #expect(meanwhile.count < Self.apps)
    let back = Self.away.upperBound..<Duration.seconds(35)
    #expect(3 * ours.load(on: Self.host).mean(in: back) < naive.load(on: Self.host).mean(in: back))
    #expect(ours.load(on: Self.host).maximum < naive.load(on: Self.host).maximum)
  }

  // MARK: An expired token

  /// Simulates an app with 60 concurrent calls and an expired token. Its client has five permits for the server, which
  /// takes a second for a response. Calls that wait for the refresh release their permits and queue again afterwards.
  private func refresh(taking time: Duration) async throws -> Int {
    let report = try await Simulation(seed: 1).run { world in
      let server = world.server(Self.host) {
        $0.serviceTime = .constant(.seconds(1))
        $0.respond = { request in
          var response = SimulatedResponse.json(#"{"access_token":"new"}"#)
          if request.head.path == "/token" {
            response.serviceTime = .constant(time)
          } else if request.head.headerFields[.authorization] != "Bearer new" {
            response.status = 401
          }
          return response
        }
      }
      let tokens = MemoryCredentialsStore(.tokens(Tokens(access: "old", refresh: "r")))
      var configuration = Configuration(baseURL: server.baseURL)
      configuration.apply(.app)
      configuration.scheduler = Scheduler(ConcurrencyLimits(perOrigin: 5))
      configuration.settings = world.settings(configuration.settings)
      configuration.authentication = .bearer(tokens) { context in
        try await context.send(Request<Tokens>.post("/token").attemptTimeout(nil))
      }
      let api = Client(configuration: configuration, transport: world.transport())
      for number in 0..<60 {
        world.spawn {
          try await api.send(Request<Void>.get("/items/\(number)"))
          world.note("item")
        }
      }
    }
    return report.times(of: "item").count
  }

  @Test("Many calls with an expired token all succeed, even if the refresh is slow", arguments: [1, 11])
  func expiredToken(seconds: Int64) async throws {
    #expect(try await refresh(taking: .seconds(seconds)) == 60)
  }

  // MARK: Images

  private enum Arrangement: Sendable {
    case none
    case priorities
    case hold
  }

  /// Simulates a screen on a slow link. The screen requests 40 images, and then the list that is displayed first.
  /// Returns the duration of the list's call.
  private func list(_ arrangement: Arrangement) async throws -> Duration? {
    let report = try await Simulation(seed: 1).run { world in
      let server = world.server(Self.host) { $0.respond = { _ in .bytes(10_000) } }
      let scheduler = Scheduler(.app)
      var configuration = Configuration(baseURL: server.baseURL)
      configuration.scheduler = scheduler
      configuration.settings = world.settings(configuration.settings)
      let link = SimulatedLink(latency: .constant(.milliseconds(150)), bandwidth: 100_000)
      let api = Client(configuration: configuration, transport: world.transport(over: link))
      if arrangement == .hold { scheduler.pause("images") }
      for number in 0..<40 {
        let image = Request<Void>.get("/images/\(number)").tag("images")
        world.spawn { try await api.send(arrangement == .priorities ? image.priority(.low) : image) }
      }
      try await world.sleep(for: .milliseconds(100))
      let list = Request<Void>.get("/list")
      try await api.send(arrangement == .priorities ? list.priority(.high) : list)
      world.note("list")
      scheduler.resume("images")
    }
    #expect(report.successes == 41)
    return report.times(of: "list").first
  }

  @Test("A list overtakes queued images by priority, and uses the whole link while the images are paused")
  func heldImages() async throws {
    let (arriving, overtaking, alone) = (try await list(.none), try await list(.priorities), try await list(.hold))
    let (inOrder, ahead, first) = (try #require(arriving), try #require(overtaking), try #require(alone))
    #expect(inOrder > ahead * 3)
    #expect(ahead > first)
  }
}

extension SimulationReport {
  /// Returns the times of a note.
  fileprivate func times(of note: String) -> [Duration] {
    events.compactMap { event -> Duration? in
      guard case .note(note) = event.kind else { return nil }
      return event.time
    }
  }
}

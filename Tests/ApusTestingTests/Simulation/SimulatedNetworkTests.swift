import ApusCore
import TestSupport
import Testing

@testable import ApusTesting

/// The end of a call.
private struct Ending: Sendable, Hashable {
  var text = ""
  var status: Int?
  var code: CallError.Code?
  var requestState: RequestState?
  var retryAfter: Duration?
  var after = Duration.zero
}

/// An observer that records the calls that start.
private struct Teller: CallObserver {
  let told: Log<String>

  func observe(_ event: TraceEvent, of call: CallEntry) {
    if case .started = event.kind { told.add("\(call.endpoint)") }
  }
}

extension SimulatedWorld {
  fileprivate func ending(of target: String = "x", by api: Client) async -> Ending {
    let start = now
    var ending = Ending()
    do throws(CallError) {
      ending.text = try await api.send(Request<String>.get("/\(target)"))
    } catch {
      (ending.status, ending.code, ending.requestState) = (error.status, error.code, error.requestState)
      ending.retryAfter = error.retryAfter
    }
    ending.after = now - start
    return ending
  }
}

@Suite("Simulation: network and servers")
struct SimulatedNetworkTests {
  private func run(
    _ body: @escaping @Sendable (SimulatedWorld, Log<Ending>) async throws -> Void
  ) async throws -> [Ending] {
    let log = Log<Ending>()
    _ = try await Simulation(seed: 1).run({ world in try await body(world, log) })
    return log.all
  }

  @Test("A call takes twice the latency and the service time, and returns the server's response")
  func latency() async throws {
    let endings = try await run { world, log in
      let server = world.server("API.test") {
        $0.serviceTime = .constant(.milliseconds(30))
        $0.respond = { .json("to \($0.target)") }
      }
      let api = world.client(of: server, over: SimulatedLink(latency: .constant(.milliseconds(100))))
      log.add(await world.ending(of: "a", by: api))
    }
    #expect(endings == [Ending(text: "to /a", after: .milliseconds(230))])
  }

  @Test("The messages of one device share its bandwidth, one after the other")
  func bandwidth() async throws {
    let report = try await Simulation(seed: 1).run { world in
      let server = world.server("api.test") {
        $0.serviceTime = .constant(.zero)
        $0.respond = { _ in .bytes(9600) }
      }
      let link = SimulatedLink(latency: .constant(.zero), bandwidth: 10_000)
      for _ in 0..<2 {
        let api = world.client(of: server, over: link)
        for number in 0..<2 { world.spawn { _ = try await api.send(Request<String>.get("/\(number)")) } }
      }
    }
    // Each call sends 400 bytes and receives 10,000 bytes.
    #expect(report.latencies() == [1040, 1040, 2040, 2040].map { Duration.milliseconds($0) })
  }

  @Test("A server with a full queue responds with 503 and Retry-After immediately")
  func overload() async throws {
    let endings = try await run { world, log in
      let server = world.server("api.test") {
        ($0.capacity, $0.queueLimit, $0.retryAfter) = (1, 1, .milliseconds(1500))
        $0.serviceTime = .constant(.seconds(1))
      }
      let api = world.client(of: server, over: .ideal)
      for _ in 0..<3 { world.spawn { log.add(await world.ending(by: api)) } }
    }
    #expect(endings.map(\.status) == [503, nil, nil])
    #expect(endings.map(\.after) == [.zero, .seconds(1), .seconds(2)])
    #expect(endings[0].retryAfter == .seconds(2))
    #expect(endings[0].requestState == .responded)
  }

  @Test("With half the capacity a server takes twice the time")
  func change() async throws {
    let report = try await Simulation(seed: 1).run { world in
      let server = world.server("api.test") {
        $0.capacity = 4
        $0.serviceTime = .constant(.seconds(1))
      }
      server.change(at: .seconds(10)) { $0.capacity = 2 }
      let api = world.client(of: server, over: .ideal)
      for start in [0, 20] as [Int] {
        world.spawn {
          try await world.sleep(until: .seconds(start))
          for _ in 0..<4 { world.spawn { _ = try await api.send(Request<String>.get("/")) } }
        }
      }
      try await world.sleep(until: .seconds(19))
      #expect(server.behavior.capacity == 2)
    }
    #expect(report.latencies() == [1, 1, 1, 1, 1, 1, 2, 2].map { Duration.seconds($0) })
    #expect(report.queueLength(on: "api.test").maximum == 2)
  }

  @Test("Outages of the link, outages of the server and unknown hosts cause different errors")
  func outages() async throws {
    let endings = try await run { world, log in
      let server = world.server("api.test") {
        $0.outages = [Duration.seconds(20)..<Duration.seconds(30)]
        $0.serviceTime = .constant(.seconds(2))
      }
      let link = SimulatedLink(outages: [Duration.seconds(10)..<Duration.seconds(15)])
      let api = world.client(of: server, over: link)
      for start in [11, 9, 25, 19, 40] as [Int] {
        world.spawn {
          try await world.sleep(until: .seconds(start))
          log.add(await world.ending(by: api))
        }
      }
      let nowhere = Client(
        environment: Environment(baseURL: "https://nowhere.test"), transport: world.transport(),
        settings: world.settings())
      log.add(await world.ending(by: nowhere))
    }
    #expect(endings.map(\.code) == [.hostNotFound, .offline, .connectionLost, .connectionLost, .connectionFailed, nil])
    #expect(endings.map(\.requestState) == [.notSent, .notSent, .maybeSent, .maybeSent, .notSent, nil])
  }

  @Test("A link loses exchanges with its probability, half of them after the server has processed the request")
  func loss() async throws {
    let report = try await Simulation(seed: 5).run { world in
      let server = world.server("api.test")
      let api = world.client(of: server, over: SimulatedLink(loss: 0.2))
      for number in 0..<2000 {
        world.spawn {
          try await world.sleep(until: .milliseconds(number * 50))
          _ = try? await api.send(Request<String>.get("/"))
        }
      }
    }
    #expect((320...480).contains(report.failures))
    let arrived = report.load(on: "api.test").values.reduce(0, +)
    #expect((1750...1850).contains(arrived))
  }

  @Test("A world's settings keep the app's settings except the runtime, and add the world's observer")
  func settings() async throws {
    let told = Log<String>()
    let report = try await Simulation(seed: 1).run { world in
      let server = world.server("api.test")
      var settings = ClientSettings()
      settings.contentLimit = 1000
      settings.observers.append(Teller(told: told))
      let made = world.settings(settings)
      #expect(made.contentLimit == 1000)
      #expect(made.observers.count == 2)
      let api = Client(
        environment: Environment(baseURL: server.baseURL), transport: world.transport(), settings: made)
      try await api.send(Request<Void>.get("/a"))
    }
    #expect(told.all == ["GET /a"])
    #expect(report.successes == 1)
  }

  @Test("A stalled exchange ends at the call's first-byte timeout")
  func stalled() async throws {
    let endings = try await run { world, log in
      var link = SimulatedLink(loss: 1)
      link.stallsOnLoss = true
      let api = world.client(of: world.server("api.test"), over: link)
      do throws(CallError) {
        let limits = ExchangeTimeouts(firstByte: .seconds(3))
        _ = try await api.send(Request<String>.get("/").setting(ExchangeTimeouts.self, limits))
      } catch {
        log.add(Ending(code: error.code, after: world.now))
      }
    }
    #expect(endings == [Ending(code: .timeout, after: .seconds(3))])
  }
}

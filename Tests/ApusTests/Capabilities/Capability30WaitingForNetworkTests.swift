import Apus
import TestSupport
import Testing

@Suite("30: calls without a network, with the stub and with sockets")
struct Capability30WaitingForNetworkTests {
  private let clock = StoppedClock()
  private let connectivity = Connectivity()

  private func client(_ server: any RecordingServer, _ policy: ConnectivityPolicy = .pauseRetries) -> Client {
    server.client {
      clock.stop(&$0)
      $0.connectivity = connectivity
      $0.connectivityPolicy = policy
    }
  }

  @Test("A call can wait for a network and is sent when the network is available", arguments: TestBackend.allCases)
  func wait(backend: TestBackend) async throws {
    try await backend.with { _ in
      .text("there")
    } body: { server in
      let api = client(server)
      connectivity.report(.offline)
      let calls = (0..<5).map { number in
        Task { try await api.send(Request<String>.post("/\(number)").connectivity(.wait)) }
      }
      try await waitWhile(connectivity.waitingCount < 5)
      #expect(server.requests.isEmpty)
      connectivity.report(.online)
      for call in calls {
        let text = try await call.value
        #expect(text == "there")
      }
      // Each request was sent once, including the request that is not idempotent.
      #expect(Set(server.paths).count == 5 && server.requests.count == 5)
      #expect(connectivity.waitingCount == 0)
    }
  }

  @Test("A call that waits for a network ends at its deadline as not sent", arguments: TestBackend.allCases)
  func deadline(backend: TestBackend) async throws {
    try await backend.with { _ in
      .text("there")
    } body: { server in
      let api = client(server, .wait)
      connectivity.report(.offline)
      let call = Task { await failure { try await api.send(Request<String>.get("/a").timeout(.seconds(5))) } }
      try await waitWhile(connectivity.waitingCount == 0)
      clock.advance(by: .seconds(5))
      let error = try #require(await call.value)
      #expect(error.code == .timeout && error.phase == .waiting && error.requestState == .notSent)
      #expect(server.requests.isEmpty && connectivity.waitingCount == 0)
    }
  }

  @Test("A call that does not wait for a network fails immediately as offline", arguments: TestBackend.allCases)
  func failFast(backend: TestBackend) async throws {
    try await backend.with { _ in
      .text("there")
    } body: { server in
      let api = client(server, .failFast)
      connectivity.report(.offline)
      let error = try #require(await failure { try await api.send(Request<String>.get("/a")) })
      #expect(error.code == .offline && error.requestState == .notSent)
      #expect(error.message == "You appear to be offline. Check your connection and try again.")
      #expect(server.requests.isEmpty)
    }
  }

  @Test(
    "A wrong offline state blocks no call by default: calls are tried, and a response corrects the state",
    arguments: TestBackend.allCases)
  func falseBelief(backend: TestBackend) async throws {
    try await backend.with { _ in
      .text("there")
    } body: { server in
      let api = client(server)
      connectivity.report(.offline)
      let text = try await api.send(Request<String>.get("/a"))
      #expect(text == "there")
      #expect(connectivity.status == .online)
    }
  }

  @Test(
    "With the policies failFast and wait, occasional probes correct a wrong offline state",
    arguments: TestBackend.allCases, [ConnectivityPolicy.failFast, .wait])
  func probe(backend: TestBackend, policy: ConnectivityPolicy) async throws {
    try await backend.with { _ in
      .text("there")
    } body: { server in
      let api = client(server, policy)
      connectivity.report(.offline)
      let first = Task { await failure { try await api.send(Request<String>.get("/first")) } }
      if policy == .wait {
        try await waitWhile(connectivity.waitingCount == 0)
        try await clock.waitForSleepers(1)
      } else {
        #expect(await first.value?.code == .offline)
      }
      clock.advance(by: .seconds(30))
      let text = try await api.send(Request<String>.get("/second"))
      #expect(text == "there")
      #expect(await first.value?.code == (policy == .wait ? nil : .offline))
      #expect(connectivity.status == .online)
    }
  }

  @Test("By default retries wait for a network, so that no attempt is wasted", arguments: TestBackend.allCases)
  func pauseRetries(backend: TestBackend) async throws {
    try await backend.with {
      $0.number == 0 ? .status(503) : .text("there")
    } body: { server in
      let api = client(server)
      let call = Task { try await api.send(Request<String>.get("/a")) }
      // The sleeper is the delay before the second attempt.
      try await clock.waitForSleepers(1)
      connectivity.report(.offline)
      clock.advance(by: .seconds(1))
      try await waitWhile(connectivity.waitingCount == 0)
      #expect(server.requests.count == 1)
      connectivity.report(.online)
      let text = try await call.value
      #expect(text == "there")
      #expect(server.requests.count == 2)
    }
  }

  @Test(
    "Any response proves that there is a network, and a lost connection does not disprove it",
    arguments: TestBackend.allCases)
  func findings(backend: TestBackend) async throws {
    try await backend.with {
      $0.path == "/broken" ? .broken : .status(404)
    } body: { server in
      let api = client(server)
      connectivity.report(.unknown)
      _ = await failure { try await api.send(Request<String>.post("/broken")) }
      #expect(connectivity.status == .unknown)
      _ = await failure { try await api.send(Request<String>.post("/missing")) }
      #expect(connectivity.status == .online)
    }
  }
}

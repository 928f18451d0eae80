#if ServiceLifecycle
import Apus
import ApusNIO
import ApusTestServer
import Logging
import ServiceLifecycle
import Testing

@Suite("A transport as a service")
struct TransportServiceTests {
  private func group(_ transport: NIOTransport, grace: Duration) -> ServiceGroup {
    ServiceGroup(services: [transport.service(grace: grace)], logger: Logger(label: "test"))
  }

  /// Returns a client without timeouts and retries.
  private func client(of server: TestServer, over transport: NIOTransport) throws -> Client {
    try Client(baseURL: BaseURL(server.origin), transport: transport) {
      ($0.timeout, $0.attemptTimeout) = (nil, nil)
      $0.retry = .none
    }
  }

  private func code(of body: () async throws(CallError) -> Void) async -> CallError.Code? {
    do throws(CallError) {
      try await body()
      return nil
    } catch {
      return error.code
    }
  }

  @Test("During a graceful shutdown running calls finish and new calls are refused")
  func graceful() async throws {
    let gate = Gate()
    try await TestServer.with { _ in
      .text("whole").waiting(for: gate)
    } body: { server in
      let transport = NIOTransport()
      let api = try client(of: server, over: transport)
      let group = group(transport, grace: .seconds(600))
      let service = Task { try await group.run() }
      let running = Task { try await api.send(Request<String>.get("/")) }
      try await gate.waitForArrivals(1)
      await group.triggerGracefulShutdown()
      let late = Request<Void>.method(.get, "/late").timeout(.seconds(1))
      var lateCode: CallError.Code?
      for _ in 0..<60 where lateCode != .refused {
        lateCode = await code { () async throws(CallError) in try await api.send(late) }
      }
      #expect(lateCode == .refused)
      gate.open()
      let text = try await running.value
      #expect(text == "whole")
      try await service.value
      try await server.wait { $0.openConnections == 0 }
    }
  }

  @Test("Calls that exceed the grace period are ended, and then the service ends")
  func impatient() async throws {
    try await TestServer.with { _ in
      .stalled
    } body: { server in
      let transport = NIOTransport()
      let api = try client(of: server, over: transport)
      let group = group(transport, grace: .milliseconds(50))
      let service = Task { try await group.run() }
      let running = Task { try await api.send(Request<String>.get("/")) }
      try await server.exchanges(atLeast: 1)
      await group.triggerGracefulShutdown()
      try await service.value
      let result = await running.result
      #expect(throws: CallError.self) { try result.get() }
      try await server.wait { $0.openConnections == 0 }
    }
  }

  @Test("Cancelling the service group ends running calls immediately")
  func cancelled() async throws {
    try await TestServer.with { _ in
      .stalled
    } body: { server in
      let transport = NIOTransport()
      let api = try client(of: server, over: transport)
      let group = group(transport, grace: .seconds(3600))
      let service = Task { try await group.run() }
      let running = Task { try await api.send(Request<String>.get("/")) }
      try await server.exchanges(atLeast: 1)
      service.cancel()
      _ = await service.result
      let result = await running.result
      #expect(throws: CallError.self) { try result.get() }
    }
  }
}
#endif

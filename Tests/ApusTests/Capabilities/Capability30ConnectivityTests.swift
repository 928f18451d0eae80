import Apus
import ApusTestServer
import Testing

@Suite("30: connectivity")
struct Capability30ConnectivityTests {
  /// Returns a port without a listener.
  private func closedPort() async throws -> Int {
    let server = try await TestServer.start { _ in .status(204) }
    let port = server.port
    await server.shutDown()
    return port
  }

  @Test("A refused connection reports notSent, and the message states that the server cannot be reached")
  func refused() async throws {
    let baseURL = BaseURL(stringLiteral: "http://127.0.0.1:\(try await closedPort())")
    let api = Client(baseURL: baseURL) { $0.retry = .none }
    let error = try #require(await failure { try await api.send(.ping) })
    #expect(error.code == .connectionFailed)
    #expect(error.isUnreachable)
    #expect(error.requestState == .notSent)
    #expect(error.errorDescription == "The server cannot be reached right now. Try again later.")
  }

  @Test("An unresolvable host name is not reported as a refused connection")
  func unknownHost() async throws {
    // A name that never has an address, with or without a network (RFC 6761 §6.4).
    let api = Client(baseURL: "http://apus.invalid") { $0.retry = .none }
    let error = try #require(await failure { try await api.send(.ping) })
    #expect([.hostNotFound, .offline].contains(error.code))
    #expect(error.isUnreachable)
    #expect(error.requestState == .notSent)
  }

  // No packet leaves the machine: the kernel has no route to this address.
  #if os(Linux)
  @Test("A missing network is not reported as a refused connection and has its own message")
  func offline() async throws {
    let api = Client(baseURL: "http://255.255.255.255") { $0.retry = .none }
    let error = try #require(await failure { try await api.send(.ping) })
    #expect(error.isUnreachable)
    #expect(error.requestState == .notSent)
    #expect(error.code == .offline)
    #expect(error.errorDescription == "You appear to be offline. Check your connection and try again.")
  }
  #endif

  @Test(
    "A connection that is lost later is not reported as connectionFailed, because the server may have acted",
    arguments: [Reply.closed, .reset, Reply.text("0123456789").closing(at: .content(4))])
  func broken(reply: Reply) async throws {
    try await withServer(answering: reply) { api, _ in
      let error = try #require(await failure { try await api.send(Request<String>.post("/a")) })
      #expect([.connectionLost, .malformedResponse].contains(error.code))
      #expect(!error.isUnreachable)
      #expect(error.requestState != .notSent)
    }
  }

  @Test("A server that recovers is reached again, whatever its earlier failures")
  func noFalseRefusal() async throws {
    // Another process may use the port after the port was closed. In this case, the next port is tried.
    for _ in 0..<20 {
      let port = try await closedPort()
      let api = Client(baseURL: BaseURL(stringLiteral: "http://127.0.0.1:\(port)")) {
        $0.timeout = .seconds(300)
        $0.attemptTimeout = nil
        $0.retry = .none
        // With this source, calls are refused while the connectivity status is offline.
        $0.connectivity = Connectivity()
        $0.connectivityPolicy = .failFast
        $0.breaker = nil
      }
      var refusals = 0
      for _ in 0..<10 where await failure({ try await api.send(.ping) })?.code == .connectionFailed { refusals += 1 }
      guard refusals == 10 else { continue }
      guard let server = try? await TestServer.start(options: .init(port: port), { _ in .status(204) }) else {
        continue
      }
      let error = await failure { try await api.send(.ping) }
      #expect(error == nil)
      await server.shutDown()
      return
    }
    Issue.record("no call to a closed port was refused")
  }
}

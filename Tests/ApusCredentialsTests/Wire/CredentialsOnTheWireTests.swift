import Apus
import ApusTestServer
import Testing

@Suite("Credentials in the requests that servers record")
struct CredentialsOnTheWireTests {
  /// A server for which the client has credentials, and another server.
  private struct Servers {
    let first: TestServer
    let second: TestServer

    /// Whether the second server received no credentials, and no response computed for the first server.
    var secondReceivesNoCredentials: Bool {
      let answers = first.exchanges.compactMap { $0.proof["response"] }
      return second.exchanges.allSatisfy { exchange in
        exchange.isAnonymous && answers.allSatisfy { !exchange.seen.contains($0) }
      }
    }

    /// The number of refresh requests.
    var refreshes: Int { (first.exchanges + second.exchanges).count { $0.path == Authenticator.tokenPath } }
  }

  private let page = Request<String>.get("/a", query: ["page": 2])

  private func withServers(
    of authenticator: Authenticator,
    second: @escaping @Sendable (RecordedRequest) -> Reply = { _ in .text("there") },
    _ body: (Servers) async throws -> Void
  ) async throws {
    let gatekeeper = Gatekeeper(authenticator: authenticator)
    try await TestServer.with(second) { other in
      gatekeeper.other.value = other.origin
      try await TestServer.with { request in
        gatekeeper.reply(to: request)
      } body: { first in
        try await body(Servers(first: first, second: other))
      }
    }
  }

  /// Returns a client that has authenticated once, so that it knows the server's challenge.
  private func client(
    _ authenticator: Authenticator, of servers: Servers, configure: (inout Configuration) -> Void = { _ in }
  ) async throws -> Client {
    let api = servers.first.client {
      $0.authentication = authenticator.authentication()
      configure(&$0)
    }
    let text = try await api.send(Request<String>.get("/learn"))
    #expect(text == "here")
    return api
  }

  @Test("A redirect to another port sends no credentials", arguments: Authenticator.allCases)
  func redirected(authenticator: Authenticator) async throws {
    try await withServers(of: authenticator) { servers in
      let api = try await client(authenticator, of: servers)
      let text = try await api.send(page)
      #expect(text == "there")
      let own = try #require(servers.first.exchanges.last)
      #expect(own.shown == authenticator.shown)
      #expect((own.proof["response"] != nil) == (authenticator == .digest))
      #expect(servers.second.exchanges.map(\.target) == ["/a?page=2"])
      #expect(servers.secondReceivesNoCredentials)
    }
  }

  @Test(
    "Another server's challenge gets no credentials, and causes no refresh and no sign-out",
    arguments: Authenticator.allCases)
  func asked(authenticator: Authenticator) async throws {
    let events = Log<SessionEnd>()
    let challenging: @Sendable (RecordedRequest) -> Reply = { _ in
      .status(401, fields: ["WWW-Authenticate": authenticator.challenge])
    }
    try await withServers(of: authenticator, second: challenging) { servers in
      let api = try await client(authenticator, of: servers) { $0.onSessionEnd = events.add }
      for _ in 0..<2 {
        let error = await #expect(throws: CallError.self) { try await api.send(page) }
        #expect(error?.status == 401)
      }
      #expect(servers.second.exchanges.count == 2)
      #expect(servers.secondReceivesNoCredentials && servers.refreshes == 0)
      // The credentials are still valid at their own server.
      let text = try await api.send(Request<String>.get("/learn"))
      #expect(text == "here")
    }
    #expect(events.all.isEmpty)
  }

  @Test(
    "A redirect back to the credentials' server sends them again, but the server in between gets none",
    arguments: Authenticator.allCases)
  func restored(authenticator: Authenticator) async throws {
    let back = Address()
    let returning: @Sendable (RecordedRequest) -> Reply = { _ in
      .status(307, fields: ["Location": back.value + "/end"])
    }
    try await withServers(of: authenticator, second: returning) { servers in
      back.value = servers.first.origin
      let api = try await client(authenticator, of: servers)
      let text = try await api.send(page)
      #expect(text == "here")
      let own = servers.first.exchanges.suffix(2)
      #expect(own.map(\.path) == ["/a", "/end"])
      #expect(own.map(\.shown) == [authenticator.shown, authenticator.shown])
      // Each digest response is computed for its message.
      let counts: [String?] = authenticator == .digest ? ["00000002", "00000003"] : [nil, nil]
      #expect(own.map { $0.proof["nc"] } == counts)
      #expect(servers.second.exchanges.count == 1 && servers.secondReceivesNoCredentials)
    }
  }

  @Test("Content is resent after a challenge, but the other server gets no credentials with it")
  func content() async throws {
    try await withServers(of: .digest) { servers in
      let api = servers.first.client { $0.authentication = Authenticator.digest.authentication() }
      let text = try await api.send(Request<String>.post("/a", content: .text("some content")))
      #expect(text == "there")
      #expect(servers.first.exchanges.map(\.text) == ["some content", "some content"])
      #expect(servers.first.exchanges.map { $0.proof["nc"] } == [nil, "00000001"])
      // Status 307 redirects the content, too.
      #expect(servers.second.exchanges.map(\.text) == ["some content"])
      #expect(servers.secondReceivesNoCredentials)
    }
  }

  @Test("A middleware's request to another server carries no credentials", arguments: Authenticator.allCases)
  func elsewhere(authenticator: Authenticator) async throws {
    try await withServers(of: authenticator) { servers in
      let elsewhere = SendElsewhere(authority: "127.0.0.1:\(servers.second.port)")
      let api = try await client(authenticator, of: servers) {
        $0.customizePipeline = { $0.insert(elsewhere, .after(.redirects)) }
      }
      let text = try await api.send(Request<String>.get("/elsewhere"))
      #expect(text == "there")
      #expect(servers.second.exchanges.map(\.target) == ["/elsewhere"])
      #expect(servers.secondReceivesNoCredentials)
    }
  }

  @Test("An endpoint cannot state another server", arguments: Authenticator.allCases)
  func absolute(authenticator: Authenticator) async throws {
    try await withServers(of: authenticator) { servers in
      let api = try await client(authenticator, of: servers)
      for start in [servers.second.origin, "//127.0.0.1:\(servers.second.port)"] {
        let error = await #expect(throws: CallError.self) {
          try await api.send(Request<String>.get(RequestPath(stringLiteral: start + "/a")))
        }
        #expect(error?.code == .invalidRequest)
      }
      #expect(servers.second.exchanges.isEmpty)
    }
  }

  @Test(
    "A second client of the server, without credentials, sends none", arguments: Authenticator.allCases)
  func otherClient(authenticator: Authenticator) async throws {
    try await withServers(of: authenticator) { servers in
      let api = try await client(authenticator, of: servers)
      let stranger = servers.first.client()
      for place in ["/learn", "/a"] {
        _ = try? await stranger.send(Request<String>.get(RequestPath(stringLiteral: place)))
        #expect(servers.first.exchanges.last?.path == place)
        #expect(servers.first.exchanges.last?.isAnonymous == true)
      }
      _ = try await api.send(Request<String>.get("/learn"))
      #expect(servers.first.exchanges.last?.shown == authenticator.shown)
    }
  }

  @Test("An endpoint with credentials(.none) sends no credentials", arguments: Authenticator.allCases)
  func endpoint(authenticator: Authenticator) async throws {
    try await withServers(of: authenticator) { servers in
      let api = try await client(authenticator, of: servers)
      _ = try? await api.send(Request<String>.get("/end").credentials(.none))
      #expect(servers.first.exchanges.last?.path == "/end")
      #expect(servers.first.exchanges.last?.isAnonymous == true)
    }
  }
}

import Apus
import ApusNIO
import ApusTestServer
import Testing

/// The servers use no TLS in these tests, but the clients treat their connections as secure.
@Suite("Credentials of an https server on the wire")
struct CredentialsAndProtectionTests {
  private func client(
    _ authenticator: Authenticator, of server: TestServer, followsInsecure: Bool
  ) async throws -> Client {
    let baseURL = BaseURL(stringLiteral: "https://127.0.0.1:\(server.port)")
    let api = Client(baseURL: baseURL, transport: Unsecured(transport: NIOTransport())) {
      $0.timeout = .seconds(300)
      $0.attemptTimeout = nil
      $0.redirects = .follow(allowsInsecure: followsInsecure)
      $0.authentication = authenticator.authentication()
    }
    let text = try await api.send(Request<String>.get("/learn"))
    #expect(text == "here")
    #expect(server.exchanges.last?.shown == authenticator.shown)
    return api
  }

  @Test("A redirect to http is refused, and the other server gets no request", arguments: Authenticator.allCases)
  func refused(authenticator: Authenticator) async throws {
    let gatekeeper = Gatekeeper(authenticator: authenticator)
    try await TestServer.with { _ in
      .text("there")
    } body: { second in
      gatekeeper.other.value = second.origin
      try await TestServer.with {
        gatekeeper.reply(to: $0)
      } body: { first in
        let api = try await client(authenticator, of: first, followsInsecure: false)
        let count = first.exchanges.count
        for place in ["/a", "/unprotected"] as [RequestPath] {
          let error = await #expect(throws: CallError.self) { try await api.send(Request<String>.get(place)) }
          #expect(error?.underlying as? RedirectRefusal == .insecure)
        }
        #expect(second.exchanges.isEmpty && first.exchanges.count == count + 2)
      }
    }
  }

  @Test(
    "A permitted redirect to http sends no credentials, even to the same host and port",
    arguments: Authenticator.allCases)
  func followed(authenticator: Authenticator) async throws {
    let gatekeeper = Gatekeeper(authenticator: authenticator)
    try await TestServer.with { _ in
      .text("there")
    } body: { second in
      gatekeeper.other.value = second.origin
      try await TestServer.with {
        gatekeeper.reply(to: $0)
      } body: { first in
        let api = try await client(authenticator, of: first, followsInsecure: true)
        let text = try await api.send(Request<String>.get("/a"))
        #expect(text == "there")
        #expect(second.exchanges.map(\.isAnonymous) == [true])
        // The redirect leads to the same host over http, which is another origin than that of the credentials.
        _ = try? await api.send(Request<String>.get("/unprotected"))
        #expect(first.exchanges.suffix(2).map(\.path) == ["/unprotected", "/end"])
        #expect(first.exchanges.suffix(2).map(\.isAnonymous) == [false, true])
      }
    }
  }
}

#if os(Linux)
import Apus
import ApusNIO
import Foundation
import Testing

@Suite("squid", .needs(.squid), .needs(.nginx))
struct SquidTests {
  private static let known = NIOTransport.Proxy.Credentials(user: "user", password: "secret")
  /// A separate user name, because squid caches one password for each name, whichever client sends it.
  private static let unknown = NIOTransport.Proxy.Credentials(user: "stranger", password: "guessed")

  /// Runs `body` with a client whose calls go through the proxy to nginx.
  private func through<Result>(
    _ proxyPort: String, to port: String = "plain", _ change: (inout NIOTransport.Options) -> Void = { _ in },
    body: (Client) async throws -> Result
  ) async throws -> Result {
    let (squid, nginx) = (try await RealServer.squid.value, try await RealServer.nginx.value)
    var options = NIOTransport.Options()
    options.proxy = .proxy(.init(host: "127.0.0.1", port: try squid.port(proxyPort)))
    options.trust.additionalTrustRoots = [try nginx.file("ca.pem")]
    change(&options)
    let url = port == "plain" ? try nginx.url() : "https://localhost:\(try nginx.port(port))"
    return try await withClient(url) {
      $0 = options
    } body: {
      try await body($0)
    }
  }

  @Test("Plain messages are forwarded, and the connection is reused")
  func clear() async throws {
    let text = try await RealServer.nginx.value.file("files/text.txt")
    try await through("open") { client in
      var connections = 0
      for _ in 0..<50 {
        let hello = try await client.response(to: message(.get, "/hello"))
        #expect(hello.value.string == "hello\n")
        // The field that squid added to the request, echoed by nginx.
        #expect(hello.field("X-Via")?.contains("proxy.test (squid") == true)
        if hello.isOnNewConnection { connections += 1 }
      }
      #expect(connections == 1)
      for path in ["/files/text.txt", "/chunks/text.txt", "/zipped/text.txt"] as [RequestPath] {
        let content = try await client.send(message(.get, path))
        #expect(content.data == text, "\(path)")
      }
      let missing = try await client.response(to: message(.get, "/missing"))
      #expect(missing.head.status.code == 404)
    }
  }

  @Test(
    "https messages use a tunnel to the server, which sees the client's certificate",
    arguments: ["tls12", "tls13", "mutual"])
  func tunnel(port: String) async throws {
    let nginx = try await RealServer.nginx.value
    let identity = ClientIdentity(
      certificates: try nginx.file("client.pem"), key: try nginx.file("client.key"))
    try await through("open", to: port) {
      $0.trust.clientIdentity = identity
    } body: { client in
      for number in 0..<20 {
        let secure = try await client.response(to: message(.get, "/secure"))
        #expect(secure.value.string.hasPrefix("TLSv1."))
        #expect(secure.value.string.contains("CN=client") == (port == "mutual"))
        #expect(secure.isOnNewConnection == (number == 0))
      }
      // No proxy in between could read the message.
      #expect(try await client.response(to: message(.get, "/hello")).field("X-Via") == nil)
    }
  }

  @Test(
    "A proxy that sends a challenge receives the credentials, for messages and for tunnels",
    arguments: ["plain", "tls13"])
  func credentials(port: String) async throws {
    try await through("guarded", to: port) {
      $0.proxy = Self.with(Self.known, $0.proxy)
    } body: { client in
      let hello = try await client.response(to: message(.get, "/hello"))
      #expect(hello.value.string == "hello\n")
    }
  }

  @Test(
    "Without the right credentials messages get the proxy's response, and tunnels are not opened",
    arguments: [true, false])
  func wrongCredentials(areShown: Bool) async throws {
    let change = { (options: inout NIOTransport.Options) in
      if areShown { options.proxy = Self.with(Self.unknown, options.proxy) }
    }
    try await through("guarded", change) { client in
      let refused = try await client.response(to: message(.get, "/hello"))
      #expect(refused.head.status.code == 407)
      #expect(refused.field("Proxy-Authenticate") == "Basic realm=\"proxy\"")
    }
    try await through("guarded", to: "tls13", change) { client in
      let error = try #require(await failure { try await client.send(message(.get, "/hello")) })
      #expect(error.code == .connectionFailed)
      #expect(error.requestState == .notSent)
      #expect(!"\(error)".contains("guessed"))
    }
  }

  @Test("If the proxy refuses a tunnel, the call fails as not sent")
  func refusedTunnel() async throws {
    let closed = try await RealServer.squid.value.port("refused")
    let proxy = NIOTransport.Proxy(host: "127.0.0.1", port: try await RealServer.squid.value.port("open"))
    try await withClient("https://localhost:\(closed)") {
      $0.proxy = .proxy(proxy)
    } body: { client in
      let error = try #require(await failure { try await client.send(message(.post, "/")) })
      #expect(error.code == .connectionFailed)
      #expect(error.requestState == .notSent)
    }
    try await withClient("http://localhost:\(closed)") {
      $0.proxy = .proxy(proxy)
    } body: { client in
      let refused = try await client.response(to: message(.get, "/"))
      #expect(refused.head.status.code == 403)
    }
  }

  @Test("Excluded hosts are contacted without the proxy", arguments: ["127.0.0.1", "127.0.0.0/8", "*"])
  func exceptions(entry: String) async throws {
    try await through("open") {
      guard case .proxy(var proxy) = $0.proxy else { return }
      proxy.bypassedHosts = ["example.com", entry]
      $0.proxy = .proxy(proxy)
    } body: { client in
      let hello = try await client.response(to: message(.get, "/hello"))
      #expect(hello.field("X-Via") == nil)
    }
  }

  private static func with(
    _ credentials: NIOTransport.Proxy.Credentials, _ use: NIOTransport.ProxyMode
  ) -> NIOTransport.ProxyMode {
    guard case .proxy(var proxy) = use else { return use }
    proxy.credentials = credentials
    return .proxy(proxy)
  }
}
#endif

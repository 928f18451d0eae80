import ApusCore
import ApusMiddleware
import ApusTestServer
import HTTPTypes
import NIOCore
import Synchronization
import Testing

@testable import ApusNIO

@Suite("The address policy for public addresses, with untrusted URLs")
struct AddressPolicyTests {
  /// Runs `body` with a client that has an address policy and resolves names with `search`, and with a server.
  private func with<Result>(
    _ addresses: AddressPolicy = .publicOnly, proxy: NIOTransport.ProxyMode = .none,
    resolving search: @escaping NameResolver.Search,
    _ body: (Client, TestServer) async throws -> Result
  ) async throws -> Result {
    try await TestServer.with { _ in
      .text("inside")
    } body: { server in
      var options = NIOTransport.Options.patient
      (options.addresses, options.proxy) = (addresses, proxy)
      let transport = NIOTransport(options: options, resolver: NameResolver(search: search))
      do {
        let result = try await body(try makeClient("https://api.example.com", transport), server)
        await transport.shutDown()
        return result
      } catch {
        await transport.shutDown()
        throw error
      }
    }
  }

  private static func loopback(_ name: String) throws -> [SocketAddress] {
    try [SocketAddress(ipAddress: "127.0.0.1", port: 0), SocketAddress(ipAddress: "::1", port: 0)]
  }

  /// URLs that must be refused; `{port}` stands for the port of a server on 127.0.0.1.
  private static let hostile = [
    "http://127.0.0.1:{port}/", "http://localhost:{port}/", "http://localhost.:{port}/", "http://LOCALHOST:{port}/",
    "http://internal.example:{port}/", "http://127.0.0.1.nip.example:{port}/", "http://[::1]:{port}/",
    "http://[0:0:0:0:0:0:0:1]:{port}/", "http://[::ffff:127.0.0.1]:{port}/", "http://[::ffff:7f00:1]:{port}/",
    "http://[::127.0.0.1]:{port}/", "http://[64:ff9b::7f00:1]:{port}/", "http://[::]:{port}/", "http://0.0.0.0:{port}/",
    "http://0:{port}/", "http://127.1:{port}/", "http://127.0.1:{port}/", "http://2130706433:{port}/",
    "http://0x7f000001:{port}/", "http://0x7f.0.0.1:{port}/", "http://0177.0.0.1:{port}/",
    "http://017700000001:{port}/",
    "http://127.0.0.1.:{port}/", "http://127%2e0.0.1:{port}/", "http://127。0。0。1:{port}/", "http://１２７.0.0.1:{port}/",
    "http://public.example@127.0.0.1:{port}/", "http://127.0.0.1:{port}\\@public.example/", "//127.0.0.1:{port}/",
    "http://127.0.0.1:{port}#@public.example/", "http://10.0.0.1/", "http://172.16.0.1/", "http://192.168.0.1/",
    "http://169.254.169.254/latest/meta-data/", "http://[fd00:ec2::254]/latest/meta-data/", "http://168.63.129.16/",
    "http://100.100.100.200/", "http://[fe80::1]/", "file:///etc/passwd", "gopher://127.0.0.1:{port}/",
  ]

  @Test("No hostile URL reaches the machine's own network, and each fails with a typed error", arguments: hostile)
  func refused(url: String) async throws {
    try await with(resolving: Self.loopback) { client, server in
      let url = url.replacing("{port}", with: "\(server.port)")
      let error = try #require(await failure { _ = try await client.send(Request<String>.get(.url(url))) })
      #expect([.refused, .invalidRequest].contains(error.code))
      #expect(error.code == .invalidRequest || error.underlying as? DestinationRefusal == .address)
      #expect(error.requestState == .notSent)
      #expect(server.acceptedConnections == 0)
    }
  }

  @Test(
    "No redirect to a hostile URL reaches the machine's own network, and each fails with a typed error",
    arguments: hostile)
  func redirected(url: String) async throws {
    try await with(resolving: Self.loopback) { client, server in
      let location = url.replacing("{port}", with: "\(server.port)")
      let first = FirstHop(location: location, transport: client.parts.transport)
      let pipeline: Pipeline = [.redirects: RedirectMiddleware()]
      let api = Client(environment: Environment(baseURL: "http://start.example"), pipeline: pipeline, transport: first)
      let error = try #require(await failure { _ = try await api.send(Request<String>.get("/")) })
      #expect([.refused, .invalidRequest, .malformedResponse].contains(error.code), "\(error)")
      #expect(error.underlying as? DestinationRefusal == .address || error.underlying is RedirectRefusal, "\(error)")
      #expect(server.acceptedConnections == 0)
    }
  }

  @Test("Without an address policy, private addresses are reached")
  func any() async throws {
    try await with(.any, resolving: Self.loopback) { client, server in
      for host in ["127.0.0.1", "internal.example"] {
        let text: String = try await client.send(.get(.url("http://\(host):\(server.port)/")))
        #expect(text == "inside")
      }
    }
  }

  @Test("A name is resolved once, and the checked address is the one connected to")
  func resolvedOnce() async throws {
    let lookups = Mutex(0)
    try await with { _ in
      let number = lookups.withLock {
        $0 += 1
        return $0
      }
      return try [SocketAddress(ipAddress: number == 1 ? "10.0.0.1" : "127.0.0.1", port: 0)]
    } _: { client, server in
      let url = "http://rebinding.example:\(server.port)/"
      let error = await failure { _ = try await client.send(Request<String>.get(.url(url))) }
      #expect(error?.underlying as? DestinationRefusal == .address)
      #expect(lookups.withLock { $0 } == 1)
      #expect(server.acceptedConnections == 0)
    }
  }

  @Test("Behind a proxy, which resolves names itself, every call is refused")
  func proxy() async throws {
    let proxy = NIOTransport.ProxyMode.proxy(NIOTransport.Proxy(host: "127.0.0.1", port: 9))
    try await with(proxy: proxy, resolving: Self.loopback) { client, _ in
      let error = await failure { _ = try await client.send(Request<String>.get(.url("http://public.example/"))) }
      #expect(error?.code == .refused && error?.underlying as? DestinationRefusal == .uncheckedAddress)
    }
  }
}

/// A transport that redirects requests to one host, and sends all other requests.
private struct FirstHop: Transport {
  let location: String
  let transport: any Transport

  func send(_ request: RequestMessage, context: ExchangeContext) async throws -> ResponseMessage {
    guard request.head.authority == "start.example" else { return try await transport.send(request, context: context) }
    return ResponseMessage(head: HTTPResponse(status: .found, headerFields: [.location: location]))
  }
}

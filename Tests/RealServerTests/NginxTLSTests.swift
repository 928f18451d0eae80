#if os(Linux)
import Apus
import ApusNIO
import Foundation
import Testing

@Suite("nginx: TLS", .needs(.nginx))
struct NginxTLSTests {
  private func secure(
    _ port: String, _ configure: (inout NIOTransport.Trust, RealServer) throws -> Void = { _, _ in }
  ) async throws -> Response<Content> {
    let nginx = try await RealServer.nginx.value
    var trust = NIOTransport.Trust()
    trust.additionalTrustRoots = [try nginx.file("ca.pem")]
    try configure(&trust, nginx)
    return try await withClient("https://localhost:\(try nginx.port(port))") {
      $0.trust = trust
    } body: {
      try await $0.response(to: message(.get, "/secure"))
    }
  }

  @Test(
    "A server with a single TLS version is contacted with that version",
    arguments: [("tls12", "TLSv1.2"), ("tls13", "TLSv1.3")])
  func versions(port: String, version: String) async throws {
    let response = try await secure(port)
    #expect(response.value.string == "\(version) \n")
  }

  @Test("A server with an old TLS version, or with an untrusted certificate, receives no request")
  func refused() async throws {
    let old = try #require(await failure { try await secure("tls12") { trust, _ in trust.minimumTLSVersion = .tls13 } })
    let unknown = try #require(
      await failure { try await secure("tls13") { trust, _ in trust.additionalTrustRoots = [] } })
    for error in [old, unknown] {
      #expect(error.code == .tls)
      #expect(error.requestState == .notSent)
    }
  }

  @Test("A server that requests a certificate receives the client's, and rejects clients without one")
  func mutual() async throws {
    let known = try await secure("mutual") { trust, nginx in
      trust.clientIdentity = ClientIdentity(
        certificates: try nginx.file("client.pem"), key: try nginx.file("client.key"))
    }
    #expect(known.value.string == "TLSv1.3 CN=client\n")
    let anonymous = try await secure("mutual")
    #expect(anonymous.head.status.code == 400)
  }

  @Test("A redirect from https to http is followed only if the client allows it")
  func unprotected() async throws {
    let nginx = try await RealServer.nginx.value
    let authority = try nginx.file("ca.pem")
    for allows in [false, true] {
      var configuration = Configuration(baseURL: try BaseURL("https://localhost:\(try nginx.port("tls13"))"))
      configuration.redirects = .follow(allowsInsecure: allows)
      try await withTransport(.nio) {
        $0.trust.additionalTrustRoots = [authority]
      } body: { transport in
        let client = Client(configuration: configuration, transport: transport)
        if allows {
          let content = try await client.send(message(.get, "/unprotected"))
          #expect(content.string == "hello\n")
        } else {
          let error = await failure { try await client.send(message(.get, "/unprotected")) }
          #expect(error?.underlying as? RedirectRefusal == .insecure)
        }
      }
    }
  }

  @Test("Content with any framing arrives completely over TLS", arguments: ["tls12", "tls13"])
  func framings(port: String) async throws {
    let nginx = try await RealServer.nginx.value
    let (text, authority) = (try nginx.file("files/text.txt"), try nginx.file("ca.pem"))
    try await withClient("https://localhost:\(try nginx.port(port))") {
      $0.trust.additionalTrustRoots = [authority]
    } body: { client in
      for path in ["/files/text.txt", "/chunks/text.txt", "/zipped/text.txt"] as [RequestPath] {
        let content = try await client.send(message(.get, path))
        #expect(content.data == text)
      }
    }
  }
}
#endif

import ApusCore
import ApusNIO
import ApusTestServer
import Foundation
import HTTPTypes
import Testing

@Suite("Proxies")
struct ProxyTests {
  private let credentials = NIOTransport.Proxy.Credentials(user: "user", password: "secret")

  @Test("An http message is sent to the proxy with its whole URL and the proxy's credentials")
  func clear() async throws {
    try await TestServer.with { _ in
      .text("by the proxy")
    } body: { proxy in
      try await NIOTransport.with {
        $0.proxy = .proxy(.init(host: "127.0.0.1", port: proxy.port, credentials: credentials))
      } body: { transport in
        let client = try makeClient("http://example.test:81", transport)
        let got = try await client.send(message(.get, "/a").query(["b": "c"])).string
        #expect(got == "by the proxy")
        let exchange = try #require(proxy.exchanges.first)
        #expect(exchange.target == "http://example.test:81/a?b=c")
        #expect(exchange.fields["Host"] == "example.test:81")
        #expect(exchange.fields.values(of: "Proxy-Authorization") == ["Basic dXNlcjpzZWNyZXQ="])
      }
    }
  }

  @Test("An https message goes through a tunnel, without the proxy's credentials")
  func tunnel() async throws {
    let authority = try TestAuthority.shared()
    try await TestServer.with(options: .init(tls: authority.tls())) { _ in
      .text("through")
    } body: { server in
      try await TunnelServer.with(to: server.port) { proxy in
        try await NIOTransport.with {
          $0.proxy = .proxy(.init(host: "127.0.0.1", port: proxy.port, credentials: credentials))
          $0.trust.additionalTrustRoots = [Data(authority.certificate.utf8)]
        } body: { transport in
          let client = try makeClient("https://localhost:1", transport)
          for _ in 0..<2 {
            let got = try await client.send(message(.get, "/a")).string
            #expect(got == "through")
          }
          #expect(proxy.requests.count == 1)
          let head = try #require(proxy.requests.first)
          #expect(head.hasPrefix("CONNECT localhost:1 HTTP/1.1\r\nHost: localhost:1\r\n"))
          #expect(head.contains("Proxy-Authorization: Basic dXNlcjpzZWNyZXQ=\r\n"))
          #expect(server.exchanges.map(\.target) == ["/a", "/a"])
          #expect(server.exchanges.allSatisfy { $0.fields["Proxy-Authorization"] == nil })
        }
      }
    }
  }

  @Test("Inside a tunnel, the certificate must be the requested host's")
  func tunnelTrust() async throws {
    let authority = try TestAuthority.shared()
    try await TestServer.with(options: .init(tls: authority.tls())) { _ in
      .text("through")
    } body: { server in
      try await TunnelServer.with(to: server.port) { proxy in
        try await NIOTransport.with {
          $0.proxy = .proxy(.init(host: "127.0.0.1", port: proxy.port))
          $0.trust.additionalTrustRoots = [Data(authority.certificate.utf8)]
        } body: { transport in
          let error = await failure { try await makeClient("https://bank.test", transport).send(message()) }
          #expect(error?.code == .tls)
          #expect(server.exchanges.isEmpty)
        }
      }
    }
  }

  @Test("A tunnel to an address needs a certificate for that address, not for the proxy's", arguments: [true, false])
  func tunnelToAddress(isCovered: Bool) async throws {
    let authority = try TestAuthority.shared()
    try await TestServer.with(options: .init(tls: authority.tls())) { _ in
      .text("through")
    } body: { server in
      try await TunnelServer.with(to: server.port) { proxy in
        try await NIOTransport.with {
          $0.proxy = .proxy(.init(host: "127.0.0.1", port: proxy.port))
          $0.trust.additionalTrustRoots = [Data(authority.certificate.utf8)]
        } body: { transport in
          // The certificate is for ::1, and for 127.0.0.1, the proxy's address.
          let client = try makeClient(isCovered ? "https://[::1]:7" : "https://192.0.2.1:7", transport)
          if isCovered {
            let got = try await client.send(message()).string
            #expect(got == "through")
            #expect(proxy.requests.first?.hasPrefix("CONNECT [::1]:7 HTTP/1.1\r\n") == true)
          } else {
            let error = await failure { try await client.send(message()) }
            #expect(error?.code == .tls && error?.requestState == .notSent)
            #expect(server.exchanges.isEmpty)
          }
        }
      }
    }
  }

  @Test("A tunnel to an address needs a certificate of a trusted authority")
  func tunnelToUntrustedAddress() async throws {
    let authority = try TestAuthority.shared()
    try await TestServer.with(options: .init(tls: authority.tls())) { _ in
      .text("through")
    } body: { server in
      try await TunnelServer.with(to: server.port) { proxy in
        try await NIOTransport.with {
          $0.proxy = .proxy(.init(host: "127.0.0.1", port: proxy.port))
        } body: { transport in
          let error = await failure { try await makeClient("https://[::1]:7", transport).send(message()) }
          #expect(error?.code == .tls)
          #expect(server.exchanges.isEmpty)
        }
      }
    }
  }

  @Test("The error has the proxy's status if the proxy refuses the tunnel", arguments: [407, 502])
  func status(status: Int) async throws {
    try await TunnelServer.with(to: 1, answer: "HTTP/1.1 \(status) No\r\nContent-Length: 0\r\n\r\n") { proxy in
      try await NIOTransport.with {
        $0.proxy = .proxy(.init(host: "127.0.0.1", port: proxy.port))
      } body: { transport in
        let error = await failure { try await makeClient("https://localhost:1", transport).send(message()) }
        #expect(error?.detail.contains("\(status)") == true)
      }
    }
  }

  @Test(
    "A proxy that refuses a tunnel fails the call as not sent",
    arguments: [
      "HTTP/1.1 407 Authenticate\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n",
      "HTTP/1.1 502 Bad\r\nContent-Length: 3\r\n\r\nbad", "SSH-2.0\r\n\r\n", "", "HTTP/1.1 200 Ok\r\n\r\nearly",
      "HTTP/1.1 201 Ok\r\n\r\nearly", "HTTP/1.1 101 Switching\r\n\r\n",
    ])
  func refusal(answer: String) async throws {
    try await TunnelServer.with(to: 1, answer: answer) { proxy in
      try await NIOTransport.with {
        $0.proxy = .proxy(.init(host: "127.0.0.1", port: proxy.port, credentials: credentials))
      } body: { transport in
        let error = try #require(
          await failure { try await makeClient("https://localhost:1", transport).send(message(.post)) })
        #expect(error.code == .connectionFailed)
        #expect(error.requestState == .notSent)
        #expect(!"\(error)".contains("secret"))
      }
    }
  }

  @Test("Excepted hosts are reached without the proxy")
  func exceptions() async throws {
    try await TestServer.with { _ in
      .text("direct")
    } body: { server in
      var proxy = NIOTransport.Proxy(host: "127.0.0.1", port: 1)
      proxy.bypassedHosts = ["127.0.0.0/8"]
      try await NIOTransport.with {
        $0.proxy = .proxy(proxy)
      } body: { transport in
        let got = try await makeClient(server.origin, transport).send(message()).string
        #expect(got == "direct")
      }
    }
  }
}

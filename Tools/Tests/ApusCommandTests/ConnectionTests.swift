import ApusTestServer
import Foundation
import Testing

/// Trust, client certificates and proxies.
@Suite("Connections of the tool", .timeLimit(.minutes(3)))
struct ConnectionTests {
  @Test("An additional authority is trusted")
  func authority() async throws {
    let certificates = try Certificates()
    try await TestServer.with(options: .init(tls: try certificates.tls())) { _ in
      .text("hi")
    } body: { server in
      let url = "https://localhost:\(server.port)/"
      let refused = try await ToolRun.of("send", url)
      #expect(refused.status == 35)
      #expect(refused.error.contains("A secure connection"))
      #expect(server.exchanges.isEmpty)
      let trusted = try await ToolRun.of("send", url, "--ca", certificates.path("ca.pem"))
      #expect(trusted.text == "hi")
    }
  }

  @Test("A pin accepts only its key, also in a batch")
  func pins() async throws {
    let certificates = try Certificates()
    let (right, wrong) = (try certificates.pin("server"), try certificates.pin("client"))
    try await TestServer.with(options: .init(tls: try certificates.tls())) { _ in
      .text("hi")
    } body: { server in
      let arguments = ["https://localhost:\(server.port)/", "--ca", certificates.path("ca.pem")]
      let pinned = try await ToolRun.of(["send"] + arguments + ["--pin", right])
      #expect(pinned.status == 0)
      let foreign = try await ToolRun.of(["send"] + arguments + ["--pin", wrong])
      #expect(foreign.status == 35)
      let either = try await ToolRun.of(["send"] + arguments + ["--pin", wrong, "--pin", right])
      #expect(either.status == 0)
      let line = #"{"n":1,"url":"https://localhost:\#(server.port)/"}"#
      let batch = ["batch", "--ca", certificates.path("ca.pem"), "--pin"]
      let input = ToolRun.Setting(input: Data(line.utf8))
      let wrongBatch = try await ToolRun.of(batch + ["localhost=\(wrong)"], input)
      #expect(wrongBatch.text.contains(#""code":"tls""#))
      let rightBatch = try await ToolRun.of(batch + ["localhost=\(right)"], input)
      #expect(rightBatch.text.contains(#""status":200"#))
      let hostless = try await ToolRun.of(batch + [right], input)
      #expect(hostless.status == 64)
    }
  }

  @Test("The client certificate is sent to a server that requests one")
  func client() async throws {
    let certificates = try Certificates()
    try await TestServer.with(options: .init(tls: try certificates.tls(asksClients: true))) { _ in
      .text("hi")
    } body: { server in
      let arguments = ["send", "https://localhost:\(server.port)/", "--ca", certificates.path("ca.pem")]
      let stranger = try await ToolRun.of(arguments)
      #expect(stranger.status != 0)
      let identity = ["--cert", certificates.path("client.pem"), "--key", certificates.path("client.key")]
      let known = try await ToolRun.of(arguments + identity)
      #expect(known.text == "hi")
    }
  }

  @Test("A proxy is used only if an option specifies it, or the environment on request")
  func proxy() async throws {
    try await TestServer.with { _ in
      .text("by the proxy")
    } body: { proxy in
      let named = try await ToolRun.of(
        "send", "http://a.example/b", "--proxy", "http://user:secret@127.0.0.1:\(proxy.port)")
      #expect(named.text == "by the proxy")
      let exchange = try #require(proxy.exchanges.first)
      #expect(exchange.target == "http://a.example/b")
      #expect(exchange.field("Proxy-Authorization") == "Basic dXNlcjpzZWNyZXQ=")
      let environment = ["http_proxy": proxy.origin]
      let found = try await ToolRun.of(
        ["send", "http://a.example/c", "--proxy", "environment"], .init(environment: environment))
      #expect(found.text == "by the proxy")
      let direct = try await ToolRun.of(["send", "http://127.0.0.1:1/"], .init(environment: environment))
      #expect(direct.status == 7)
      #expect(proxy.exchanges.count == 2)
    }
  }

  @Test("Credentials of --bearer, of --basic and of a URL are sent")
  func credentials() async throws {
    try await TestServer.with { _ in
      .text("hi")
    } body: { server in
      _ = try await ToolRun.of("send", server.origin, "--bearer", "t0ken")
      _ = try await ToolRun.of("send", server.origin, "--basic", "ada:secret")
      _ = try await ToolRun.of("send", "http://ada:secret@127.0.0.1:\(server.port)/")
      let basic = "Basic YWRhOnNlY3JldA=="
      #expect(server.exchanges.map { $0.field("Authorization") } == ["Bearer t0ken", basic, basic])
    }
  }
}

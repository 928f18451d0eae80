import ApusTestServer
import Foundation
import Testing

/// The options of `apus batch` shared with `apus send`, which apply to every line.
@Suite("Options of apus batch", .timeLimit(.minutes(3)))
struct BatchFlagsTests {
  private func line(_ n: Int, _ url: String, _ more: String = "") -> String {
    #"{"n":\#(n),"url":"\#(url)"\#(more)}"# + "\n"
  }

  @Test(
    "Every request carries the credentials of the options, even if its URL contains other credentials",
    arguments: [
      (["--bearer", "t0ken"], "Bearer t0ken"), (["--basic", "ada:secret"], "Basic YWRhOnNlY3JldA=="),
    ])
  func credentials(arguments: [String], field: String) async throws {
    try await TestServer.with { _ in
      .text("hi")
    } body: { server in
      let input = line(1, "\(server.origin)/") + line(2, "http://eve:other@127.0.0.1:\(server.port)/")
      let run = try await ToolRun.of(["batch"] + arguments, .init(input: Data(input.utf8)))
      #expect(run.status == 0)
      #expect(server.exchanges.map { $0.field("Authorization") } == [field, field])
    }
  }

  @Test("Credentials are sent only to the origin of the first line, and lines for other origins are not sent")
  func firstOrigin() async throws {
    try await TestServer.with { _ in
      .text("other")
    } body: { other in
      try await TestServer.with { _ in
        .text("hi")
      } body: { server in
        let input =
          "nonsense\n" + line(1, "\(server.origin)/") + line(2, "\(other.origin)/") + line(3, "\(server.origin)/a")
          + line(4, "https://127.0.0.1:\(server.port)/")
        for arguments in [["--bearer", "t0ken"], ["--basic", "ada:secret"]] {
          let run = try await ToolRun.of(["batch"] + arguments, .init(input: Data(input.utf8)))
          #expect(run.status == 0)
          let results = try run.results()
          #expect(results[1]?.body == "hi" && results[3]?.body == "hi")
          for (n, asked) in [(2, other.origin), (4, "https://127.0.0.1:\(server.port)")] {
            #expect(results[n]?.code == "otherOrigin" && results[n]?.requestState == "notSent")
            #expect(results[n]?.error?.hasPrefix("the credentials are for \(server.origin), not for \(asked)") == true)
          }
        }
        #expect(other.exchanges.isEmpty)
        // Without credentials all lines are sent.
        let plain = try await ToolRun.of("batch", input: line(1, server.origin) + line(2, other.origin)).results()
        #expect(plain[2]?.body == "other" && other.exchanges.first?.field("Authorization") == nil)
      }
    }
  }

  @Test("--credentials-for sets the origin of the credentials")
  func namedOrigin() async throws {
    try await TestServer.with { _ in
      .text("other")
    } body: { other in
      try await TestServer.with { _ in
        .text("hi")
      } body: { server in
        let input = line(1, "\(other.origin)/") + line(2, "\(server.origin)/")
        let run = try await ToolRun.of(
          "batch", "--bearer", "t0ken", "--credentials-for", server.origin, input: input)
        let results = try run.results()
        #expect(results[1]?.code == "otherOrigin" && results[2]?.body == "hi")
        #expect(server.exchanges.map { $0.field("Authorization") } == ["Bearer t0ken"] && other.exchanges.isEmpty)
      }
    }
  }

  @Test(
    "Redirects are followed according to the options, unless a line specifies otherwise",
    arguments: [([], 200), (["--follow"], 200), (["--no-follow"], 307)] as [([String], Int)])
  func redirects(arguments: [String], status: Int) async throws {
    try await TestServer.with { request in
      request.target == "/there" ? .text("there") : .text("moved", status: 307, fields: ["Location": "/there"])
    } body: { server in
      let url = "\(server.origin)/here"
      let input = line(1, url) + line(2, url, #","redirect":"follow""#) + line(3, url, #","redirect":"manual""#)
      let answers = try await ToolRun.of(["batch"] + arguments, .init(input: Data(input.utf8))).results()
      #expect(answers[1]?.status == status)
      #expect(answers[2]?.status == 200)
      #expect(answers[3]?.status == 307)
    }
  }

  @Test("--timeout limits each call whose line specifies no timeout")
  func timeout() async throws {
    let gate = Gate()
    try await TestServer.with { _ in
      .text("late").waiting(for: gate)
    } body: { server in
      let input = line(1, server.origin) + line(2, server.origin, #","timeout_s":120"#)
      let output = try PipeEnds()
      let setting = ToolRun.Setting(input: Data(input.utf8), output: output.write)
      let run = try await ToolRun.of(["batch", "--timeout", "0.3"], setting) { _ in
        let first = await output.receive()
        #expect(first.hasPrefix(#"{"n":1,"error":"#) && first.contains(#""code":"timeout""#), "\(first)")
        gate.open()
        let second = await output.receive()
        #expect(second.hasPrefix(#"{"n":2,"status":200"#), "\(second)")
      }
      #expect(run.status == 0)
    }
  }

  @Test("Authorities, certificate and key apply to every connection")
  func identity() async throws {
    let certificates = try Certificates()
    let both = try certificates.text("client.pem") + certificates.text("client.key")
    try Data(both.utf8).write(to: URL(filePath: certificates.path("both.pem")))
    try await TestServer.with(options: .init(tls: try certificates.tls(asksClients: true))) { _ in
      .text("hi")
    } body: { server in
      let input = ToolRun.Setting(input: Data(line(1, "https://localhost:\(server.port)/").utf8))
      let doubtful = try await ToolRun.of(["batch"], input).results()
      #expect(doubtful[1]?.code == "tls")
      let trusting = ["batch", "--ca", certificates.path("ca.pem")]
      let anonymous = try await ToolRun.of(trusting, input).results()
      #expect(anonymous[1]?.code != nil)
      #expect(server.exchanges.isEmpty)
      let pair = ["--cert", certificates.path("client.pem"), "--key", certificates.path("client.key")]
      for identity in [pair, ["--cert", certificates.path("both.pem")]] {
        let known = try await ToolRun.of(trusting + identity, input).results()
        #expect(known[1]?.body == "hi", "\(identity)")
      }
    }
  }

  @Test("A proxy is used only if an option specifies it, or the environment on request")
  func proxy() async throws {
    try await TestServer.with { _ in
      .text("by the proxy")
    } body: { proxy in
      let address = "http://user:secret@127.0.0.1:\(proxy.port)"
      let named = try await ToolRun.of("batch", "--proxy", address, input: line(1, "http://a.example/b")).results()
      #expect(named[1]?.body == "by the proxy")
      let environment = ["http_proxy": address]
      let found = try await ToolRun.of(
        ["batch", "--proxy", "environment"],
        .init(input: Data(line(1, "http://a.example/c").utf8), environment: environment)
      ).results()
      #expect(found[1]?.body == "by the proxy")
      let direct = try await ToolRun.of(
        ["batch"], .init(input: Data(line(1, "http://127.0.0.1:1/").utf8), environment: environment)
      ).results()
      #expect(direct[1]?.code == "connectionFailed")
      #expect(proxy.exchanges.map(\.target) == ["http://a.example/b", "http://a.example/c"])
      let password = "Basic dXNlcjpzZWNyZXQ="
      #expect(proxy.exchanges.map { $0.field("Proxy-Authorization") } == [password, password])
    }
  }

  @Test(
    "--transport selects the transport; URLSession does not report interim responses",
    arguments: [("nio", #""interim":[[103,{}]]"#), ("urlsession", #""interim":[]"#)])
  func transport(name: String, interim: String) async throws {
    try await TestServer.with { _ in
      .text("hi").interim(103)
    } body: { server in
      let run = try await ToolRun.of("batch", "--transport", name, input: line(1, "\(server.origin)/"))
      #expect(try run.results()[1]?.body == "hi")
      #expect(run.text.contains(interim), "\(run.text)")
    }
  }

  #if !canImport(Security)
  @Test("Lines that need features missing in URLSession fail, and are not sent")
  func urlSession() async throws {
    try await TestServer.with { _ in
      .text("never")
    } body: { server in
      let pin = "127.0.0.1=AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
      let arguments = ["--transport", "urlsession", "--pin", pin]
      let input = line(1, "\(server.origin)/") + line(2, "\(server.origin)/")
      let run = try await ToolRun.of(["batch"] + arguments, .init(input: Data(input.utf8)))
      #expect(run.status == 0)
      let answers = try run.results().values
      #expect(answers.map(\.code) == ["invalidRequest", "invalidRequest"])
      #expect(answers.map(\.requestState) == ["notSent", "notSent"])
      #expect(server.exchanges.isEmpty)
    }
  }
  #endif

  @Test("--trace prints the trace of each call to standard error, and results stay JSON lines")
  func trace() async throws {
    try await TestServer.with { _ in
      .text("hi")
    } body: { server in
      let input = line(1, "\(server.origin)/a") + line(2, "http://127.0.0.1:1/b")
      let run = try await ToolRun.of("batch", "--trace", input: input)
      #expect(run.status == 0)
      #expect(run.lines.count == 2)
      #expect(try run.results().count == 2)
      #expect(run.error.contains("GET /a\n") && run.error.contains("GET /b\n"))
      #expect(run.error.contains("response with status 200") && run.error.contains("succeeded\n"))
      #expect(run.error.contains("failed: connectionFailed\n"))
    }
  }

  @Test("Invalid options and unreadable files are reported before any line is read")
  func before() async throws {
    try await TestServer.with { _ in
      .text("never")
    } body: { server in
      let expected: [([String], Int32, String)] = [
        (["--ca", "/nowhere/ca"], 26, "Cannot read /nowhere/ca: no such file or directory."),
        (["--cert", "/nowhere/cert"], 26, "Cannot read /nowhere/cert"), (["--key", "k"], 64, "--key needs --cert"),
        (["--bearer", "@/nowhere/t"], 26, "Cannot read /nowhere/t"), (["--basic", "ada"], 64, "USER:PASSWORD"),
        (["--bearer", "a", "--basic", "b:c"], 64, "mutually exclusive"), (["--pin", "x"], 64, "--pin HOST=HASH"),
        (["--proxy", "socks5://p"], 64, "--proxy takes"), (["--timeout", "0"], 64, "--timeout takes"),
        (["--credentials-for", "h"], 64, "needs --bearer or --basic"),
        (["--bearer", "a", "--credentials-for", "h/a"], 64, "scheme, host and port, for example https://h."),
        (["--connections", "0"], 64, "--connections takes"), (["--transport", "pigeon"], 64, "pigeon"),
        (["--http2", "--http1.1"], 64, "mutually exclusive"),
        (["--transport", "urlsession", "--http2"], 64, "--http2 needs --transport nio"),
        (["--transport", "urlsession", "--ca", "/dev/null"], 64, "--ca needs --transport nio"),
        (["--transport", "urlsession", "--proxy", "http://p:1"], 64, "--proxy URL needs --transport nio"),
      ]
      let input = ToolRun.Setting(input: Data(line(1, "\(server.origin)/").utf8))
      for (arguments, status, text) in expected {
        let run = try await ToolRun.of(["batch"] + arguments, input)
        #expect(run.status == status, "\(arguments)")
        #expect(run.error.contains(text), "\(run.error)")
        #expect(run.text == "")
      }
      #expect(server.exchanges.isEmpty)
    }
  }
}

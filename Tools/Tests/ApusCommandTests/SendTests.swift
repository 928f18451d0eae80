import ApusTestServer
import Foundation
import Testing

/// `apus send`, run as a process.
@Suite("apus send", .timeLimit(.minutes(3)))
struct SendTests {
  @Test("The content of a successful response is written to standard output unchanged")
  func accepted() async throws {
    try await TestServer.with { _ in
      .json(#"{"b": 1,  "a": [ ]}"#)
    } body: { server in
      let run = try await ToolRun.of("send", "\(server.origin)/a//b?c=%2F&d", "X-A:1", "x-a:2")
      #expect(run.text == #"{"b": 1,  "a": [ ]}"#)
      #expect(run.error == "")
      #expect(run.status == 0)
      let exchange = try #require(server.exchanges.first)
      #expect(exchange.method == "GET")
      #expect(exchange.target == "/a//b?c=%2F&d")
      #expect(exchange.field("X-A") == "1, 2")
      #expect(exchange.field("User-Agent")?.hasPrefix("apus/") == true)
    }
  }

  @Test("The content of a rejection is printed, with status 22")
  func refused() async throws {
    try await TestServer.with { _ in
      .json(#"{"title":"no"}"#, status: 404)
    } body: { server in
      let run = try await ToolRun.of("send", "get", server.origin)
      #expect(run.status == 22)
      #expect(run.text == #"{"title":"no"}"#)
      #expect(run.error == "apus: The server rejected the request: 404 Not Found.\n")
    }
  }

  @Test("Redirects are followed unless turned off, and credentials are sent only to their origin")
  func redirects() async throws {
    try await TestServer.with { request in
      .text("there \(request.field("Authorization") ?? "without")")
    } body: { other in
      try await TestServer.with { _ in
        .text("moved", status: 302, fields: ["Location": "\(other.origin)/new"])
      } body: { server in
        let followed = try await ToolRun.of("send", server.origin, "--bearer", "t")
        #expect(followed.text == "there without")
        #expect(followed.status == 0)
        #expect(server.exchanges.map { $0.field("Authorization") } == ["Bearer t"])
        let kept = try await ToolRun.of("send", "--no-follow", server.origin)
        #expect(kept.text == "moved")
        #expect(kept.status == 22)
        #expect(other.exchanges.map(\.target) == ["/new"])
      }
    }
  }

  @Test("Status and fields are printed on request")
  func include() async throws {
    try await TestServer.with { _ in
      .text("hi", fields: ["X-A": "1"])
    } body: { server in
      let run = try await ToolRun.of("send", "-i", server.origin)
      #expect(run.text.hasPrefix("HTTP/1.1 200 OK\n"))
      #expect(run.text.contains("\nX-A: 1\n") && run.text.hasSuffix("\n\nhi"))
    }
  }

  @Test(
    "Each class of errors has a specific status and a message",
    arguments: [
      (Reply.raw("nonsense\r\n\r\n"), [], 8), (.text("hello").closing(at: .content(2)), [], 56), (.closed, [], 56),
      (.stalled, ["--timeout", "0.3"], 28),
    ] as [(Reply, [String], Int32)])
  func failures(reply: Reply, arguments: [String], status: Int32) async throws {
    try await TestServer.with { _ in
      reply
    } body: { server in
      let run = try await ToolRun.of(["send", server.origin] + arguments)
      #expect(run.status == status)
      #expect(run.error.hasPrefix("apus: ") && run.error.contains("while"))
    }
  }

  @Test("Invalid command lines are reported before anything is sent")
  func before() async throws {
    try await TestServer.with { _ in
      .text("never")
    } body: { server in
      let expected: [([String], Int32, String)] = [
        (["--data", "@/nowhere/file"], 26, "Cannot read /nowhere/file: no such file or directory."),
        (["--output", "/nowhere/file"], 23, "Cannot write to /nowhere/file: no such file or directory."),
        (["--output", ""], 64, "the name of a file"), (["--output", "new/"], 23, "Cannot write to new/"),
        (["--ca", "/nowhere/ca"], 26, "Cannot read /nowhere/ca"), (["Content-Length:5"], 3, "could not be prepared"),
        (["--bearer", "@/nowhere/t"], 26, "Cannot read /nowhere/t"), (["--pin", "x"], 64, "A pin must be"),
        (["--unknown"], 64, "Unknown option"), (["--json", "{"], 64, "not JSON"),
        (["--transport", "urlsession", "--ca", "/dev/null"], 64, "--ca needs --transport nio"),
      ]
      for (arguments, status, text) in expected {
        let run = try await ToolRun.of(["send", server.origin] + arguments)
        #expect(run.status == status, "\(arguments)")
        #expect(run.error.contains(text), "\(run.error)")
        #expect(run.text == "")
      }
      #expect(server.exchanges.isEmpty)
    }
  }

  @Test("A refused connection exits with status 7, and https to a server without TLS with status 35")
  func unreachable() async throws {
    let port = try await TestServer.with { _ in
      .closed
    } body: {
      $0.port
    }
    let run = try await ToolRun.of("send", "127.0.0.1:\(port)")
    #expect(run.status == 7)
    try await TestServer.with { _ in
      .text("in the clear")
    } body: { server in
      let run = try await ToolRun.of("send", "https://127.0.0.1:\(server.port)/")
      #expect(run.status == 35)
    }
  }

  @Test("Help lists every exit status, and --version prints the version")
  func help() async throws {
    let help = try await ToolRun.of("send", "--help")
    #expect(help.status == 0)
    #expect(help.text.contains("  22  the server rejected the request"))
    let version = try await ToolRun.of("--version")
    #expect(version.text.wholeMatch(of: /apus [0-9]+\.[0-9]+\.[0-9]+\n/) != nil)
  }

  @Test("The trace is written to standard error, also for a failed call")
  func trace() async throws {
    try await TestServer.with { _ in
      .text("hi")
    } body: { server in
      let run = try await ToolRun.of("send", "--trace", "\(server.origin)/a")
      #expect(run.text == "hi")
      #expect(run.error.contains("GET /a\n") && run.error.contains("response with status 200"))
      #expect(run.error.contains("  new HTTP/1.1 connection\n"))
      #expect(run.error.hasSuffix("succeeded\n"))
    }
    let failed = try await ToolRun.of("send", "--trace", "127.0.0.1:1")
    #expect(failed.error.hasSuffix("failed: connectionFailed\n"))
  }

  @Test("--curl prints the call and sends no request")
  func curl() async throws {
    try await TestServer.with { _ in
      .text("never")
    } body: { server in
      let run = try await ToolRun.of("send", "--curl", server.origin, "--bearer", "s3cret", "--data", "-")
      #expect(run.status == 0)
      #expect(run.text.hasPrefix("curl --request POST") && run.text.contains("--data-binary @-"))
      #expect(!run.text.contains("s3cret"))
      let shown = try await ToolRun.of("send", "--curl", "--show-secrets", server.origin, "--bearer", "s3cret")
      #expect(shown.text.contains("Bearer s3cret"))
      #expect(server.exchanges.isEmpty)
    }
  }

  @Test("URLSession can be selected, and reports unsupported options")
  func urlSession() async throws {
    try await TestServer.with { _ in
      .text("hi")
    } body: { server in
      let run = try await ToolRun.of("send", "--transport", "urlsession", "\(server.origin)/a", "a=b")
      #expect(run.text == "hi")
      #expect(run.status == 0)
      #expect(server.exchanges.first?.text == #"{"a":"b"}"#)
      #if !canImport(Security)
      let hash = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
      let pinned = try await ToolRun.of("send", "--transport", "urlsession", server.origin, "--pin", hash)
      #expect(pinned.status == 3)
      #expect(server.exchanges.count == 1)
      #endif
    }
  }
}

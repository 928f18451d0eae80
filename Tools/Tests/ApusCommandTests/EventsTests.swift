import ApusTestServer
import Foundation
import Testing

/// `apus events`, run as a process.
@Suite("apus events", .timeLimit(.minutes(3)))
struct EventsTests {
  private static func stream(_ text: String) -> Reply {
    .text(text, fields: ["Content-Type": "text/event-stream"])
  }

  @Test("Each event is a line of JSON, and --no-reconnect ends with the first response")
  func lines() async throws {
    try await TestServer.with { _ in
      Self.stream(
        ": comment\ndata: a \"b\"\\\ndata: ü\n\nevent: add\nid: 7\ndata: {\"n\":1}\n\ndata\n\ndata: incomplete\n")
    } body: { server in
      let run = try await ToolRun.of("events", "--no-reconnect", server.origin + "/e?x=1", "X-A:1")
      #expect(run.status == 0, "\(run.error)")
      #expect(
        run.text == #"""
          {"event":"message","id":"","data":"a \"b\"\\\nü"}
          {"event":"add","id":"7","data":"{\"n\":1}"}
          {"event":"message","id":"7","data":""}

          """#)
      #expect(run.error == "")
      let exchange = try #require(server.exchanges.first)
      #expect(exchange.target == "/e?x=1" && exchange.field("X-A") == "1")
      #expect(exchange.field("Accept") == "text/event-stream")
      #expect(exchange.field("Last-Event-ID") == nil)
    }
  }

  @Test("The stream reconnects with the last event ID until the server ends it with 204")
  func reconnected() async throws {
    try await TestServer.with { request in
      switch request.number {
      case 0: Self.stream("retry: 1\nid: 1\ndata: a\n\n")
      case 1:
        Self.stream("id: 2\ndata: b\n\ndata: broken off\n").setting("Content-Length", to: "1000").closing(at: .end)
      default: .status(204)
      }
    } body: { server in
      let run = try await ToolRun.of("events", server.origin, "--last-event-id", "0")
      #expect(run.status == 0, "\(run.error)")
      #expect(
        run.lines == [#"{"event":"message","id":"1","data":"a"}"#, #"{"event":"message","id":"2","data":"b"}"#])
      #expect(server.exchanges.map { $0.field("Last-Event-ID") } == ["0", "1", "2"])
    }
  }

  @Test("A field Last-Event-ID sets the initial last event ID")
  func field() async throws {
    try await TestServer.with { request in
      request.number == 0 ? Self.stream("retry: 1\nid: 1\ndata: a\n\n") : .status(204)
    } body: { server in
      let run = try await ToolRun.of("events", server.origin, "-H", "last-event-id: 0")
      #expect(run.status == 0, "\(run.error)")
      #expect(server.exchanges.map { $0.field("Last-Event-ID") } == ["0", "1"])
    }
  }

  @Test("A stream may be the response to POST, which is not resent without a last event ID")
  func post() async throws {
    try await TestServer.with { _ in
      Self.stream("data: a\n\n")
    } body: { server in
      let run = try await ToolRun.of("events", server.origin, "prompt=hi")
      #expect(run.status == 0, "\(run.error)")
      #expect(run.lines == [#"{"event":"message","id":"","data":"a"}"#])
      let exchange = try #require(server.exchanges.first)
      #expect(exchange.method == "POST" && exchange.text == #"{"prompt":"hi"}"#)
      #expect(server.exchanges.count == 1)
    }
  }

  @Test("An event is printed when it arrives, and an interrupt ends the command")
  func live() async throws {
    let gate = Gate()
    try await TestServer.with { _ in
      .chunked([Array("data: a\n\n".utf8), Array("data: b\n\n".utf8)], fields: ["Content-Type": "text/event-stream"])
        .waiting(for: gate, at: .content(9))
    } body: { server in
      let output = try PipeEnds()
      let run = try await ToolRun.of(["events", server.origin], .init(output: output.write)) { process in
        #expect(await output.receive() == #"{"event":"message","id":"","data":"a"}"# + "\n")
        kill(process, SIGINT)
      }
      #expect(run.status == 130)
      #expect(run.error == "apus: Interrupted.\n")
    }
  }

  @Test("A closed output ends the command without a message")
  func brokenPipe() async throws {
    try await TestServer.with { _ in
      Self.stream(String(repeating: "data: a\n\n", count: 100_000))
    } body: { server in
      let output = try PipeEnds()
      output.closeReadEnd()
      let run = try await ToolRun.of(["events", server.origin], .init(output: output.write))
      #expect(run.isOrderly && run.status == 23)
      #expect(run.error == "")
    }
  }

  @Test(
    "apus events exits with the status of the failure",
    arguments: [
      (Reply.text("gone", status: 410), [], 22), (.text("text"), [], 8),
      (stream("data: a\n\n").setting("Content-Length", to: "100").closing(at: .end), ["--no-reconnect"], 56),
    ] as [(Reply, [String], Int32)])
  func failures(reply: Reply, options: [String], status: Int32) async throws {
    try await TestServer.with { _ in
      reply
    } body: { server in
      let run = try await ToolRun.of(["events", server.origin] + options)
      #expect(run.status == status, "\(run.error)")
      #expect(run.error.hasPrefix("apus: "))
    }
  }

  @Test("Name, ID and data of an event are printed on a terminal, and cannot control it")
  func terminal() async throws {
    try await TestServer.with { _ in
      Self.stream("event: add\u{1B}[2J\nid: 7\ndata: {\"n\":1}\n\ndata: a\u{1B}[2J\ndata: b\n\n")
    } body: { server in
      let terminal = try PseudoTerminal()
      _ = try await ToolRun.of(
        ["events", "--no-reconnect", server.origin], .init(environment: ["NO_COLOR": "1"], output: terminal.program))
      #expect(
        terminal.shown().replacing("\r\n", with: "\n")
          == "add\\u001b[2J 7\n{\n  \"n\": 1\n}\n\nmessage 7\na\\u001b[2J\nb\n\n")
    }
  }
}

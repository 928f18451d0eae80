import ApusTestServer
import Foundation
import Testing

/// The tool on a terminal.
@Suite("On a terminal", .timeLimit(.minutes(3)))
struct TerminalTests {
  @Test("JSON is laid out in colour on a terminal, and without where that is not wanted")
  func colour() async throws {
    try await TestServer.with { _ in
      .json(#"{"a":1}"#)
    } body: { server in
      let terminal = try PseudoTerminal()
      _ = try await ToolRun.of(["send", server.origin], .init(output: terminal.program))
      #expect(terminal.shown() == "{\r\n  \u{1B}[34m\"a\"\u{1B}[0m: \u{1B}[33m1\u{1B}[0m\r\n}\r\n")
      let plain = try PseudoTerminal()
      _ = try await ToolRun.of(
        ["send", server.origin], .init(environment: ["NO_COLOR": "1"], output: plain.program))
      #expect(plain.shown() == "{\r\n  \"a\": 1\r\n}\r\n")
      let raw = try PseudoTerminal()
      _ = try await ToolRun.of(["send", "--raw", server.origin], .init(output: raw.program))
      #expect(raw.shown() == #"{"a":1}"#)
    }
  }

  @Test("binary content is kept from it")
  func binary() async throws {
    try await TestServer.with { _ in
      .status(200, content: [1, 0, 2])
    } body: { server in
      let terminal = try PseudoTerminal()
      let run = try await ToolRun.of(["send", server.origin], .init(output: terminal.program))
      #expect(terminal.shown() == "")
      #expect(run.status == 23)
      #expect(run.error.contains("Use --output FILE"))
    }
  }

  @Test("a refused answer is refused, though it is binary")
  func refusedBinary() async throws {
    try await TestServer.with { _ in
      .status(502, content: [1, 0, 2])
    } body: { server in
      let terminal = try PseudoTerminal()
      let run = try await ToolRun.of(["send", server.origin], .init(output: terminal.program))
      #expect(terminal.shown() == "")
      #expect(run.status == 22)
      #expect(run.error.hasPrefix("apus: The server refused: 502") && run.error.contains("binary"))
    }
  }

  @Test("a long transfer draws how far it is, and takes the line away")
  func progress() async throws {
    try await TestServer.with { _ in
      .generated(1_000_000).pausing(for: .milliseconds(1200), at: .content(500_000))
    } body: { server in
      let terminal = try PseudoTerminal()
      let run = try await ToolRun.of(["send", server.origin], .init(error: terminal.program))
      #expect(run.status == 0)
      #expect(run.output.count == 1_000_000)
      let shown = terminal.shown()
      #expect(shown.contains("\r[") && shown.contains("% "))
      #expect(shown.hasSuffix("\r\u{1B}[K"))
    }
  }

  @Test("nothing is drawn where standard error is none")
  func noTerminal() async throws {
    try await TestServer.with { _ in
      .generated(1_000_000).pausing(for: .milliseconds(1200), at: .content(500_000))
    } body: { server in
      let run = try await ToolRun.of("send", server.origin)
      #expect(run.error == "")
    }
  }
}

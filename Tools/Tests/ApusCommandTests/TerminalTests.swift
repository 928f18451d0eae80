import ApusTestServer
import Foundation
import Testing

/// The tool on a terminal.
@Suite("The tool on a terminal", .timeLimit(.minutes(3)))
struct TerminalTests {
  @Test("JSON is formatted in color on a terminal, and without color if NO_COLOR is set")
  func color() async throws {
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

  @Test("Binary content is not written to a terminal")
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

  @Test("A rejection with binary content is reported as a rejection")
  func refusedBinary() async throws {
    try await TestServer.with { _ in
      .status(502, content: [1, 0, 2])
    } body: { server in
      let terminal = try PseudoTerminal()
      let run = try await ToolRun.of(["send", server.origin], .init(output: terminal.program))
      #expect(terminal.shown() == "")
      #expect(run.status == 22)
      #expect(run.error.hasPrefix("apus: The server rejected the request: 502") && run.error.contains("binary"))
    }
  }

  @Test("A long transfer draws a progress bar and erases it")
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

  @Test("No progress is drawn if standard error is not a terminal")
  func noTerminal() async throws {
    try await TestServer.with { _ in
      .generated(1_000_000).pausing(for: .milliseconds(1200), at: .content(500_000))
    } body: { server in
      let run = try await ToolRun.of("send", server.origin)
      #expect(run.error == "")
    }
  }

  /// Control characters that clear a terminal, set its title and reverse text.
  private static let hostile = "\u{1B}[2J\u{1B}]0;owned\u{7}\u{9B}31m\u{202E}\u{8}"

  @Test("Server text cannot control the terminal, and is unchanged in a pipe and with --raw")
  func harmless() async throws {
    try await TestServer.with { _ in
      .text(Self.hostile, fields: ["X-Title": "\u{9B}31m\u{202E}"])
    } body: { server in
      let terminal = try PseudoTerminal()
      _ = try await ToolRun.of(["send", "-i", server.origin], .init(output: terminal.program))
      let shown = terminal.shown()
      #expect(!shown.unicodeScalars.contains { ["\u{1B}", "\u{7}", "\u{8}", "\u{9B}", "\u{202E}"].contains($0) })
      #expect(shown.contains(#"\u001b[2J\u001b]0;owned\u0007\u009b31m\u202e\u0008"#))
      #expect(shown.contains(#"X-Title: \u009b31m\u202e"#))
      #expect(try await ToolRun.of("send", server.origin).output == Data(Self.hostile.utf8))
      let raw = try PseudoTerminal()
      _ = try await ToolRun.of(["send", "--raw", server.origin], .init(output: raw.program))
      #expect(raw.shown() == Self.hostile)
    }
  }

  @Test("Batch results and traces cannot control the terminal")
  func harmlessLines() async throws {
    try await TestServer.with { _ in
      .raw("HTTP/1.1 200 \u{9B}31mred\u{202E}\r\nContent-Length: \(Self.hostile.utf8.count)\r\n\r\n" + Self.hostile)
    } body: { server in
      for arguments in [["batch"], ["send", "--trace", server.origin]] {
        let (output, error) = (try PseudoTerminal(), try PseudoTerminal())
        let input = Data((#"{"n":1,"url":"\#(server.origin)/"}"# + "\n").utf8)
        _ = try await ToolRun.of(arguments, .init(input: input, output: output.program, error: error.program))
        for shown in [output.shown(), error.shown()] {
          #expect(!shown.contains("\u{1B}]0;") && !shown.contains("\u{1B}[2J"), "\(arguments)")
          #expect(
            !shown.unicodeScalars.contains { ["\u{7}", "\u{8}", "\u{9B}", "\u{202E}"].contains($0) }, "\(arguments)")
        }
      }
    }
  }

  @Test("Server text on standard error cannot control the terminal")
  func harmlessReason() async throws {
    try await TestServer.with { _ in
      .raw("HTTP/1.1 500 \u{9B}31mred\u{202E}\r\nContent-Length: 0\r\n\r\n")
    } body: { server in
      let run = try await ToolRun.of("send", server.origin)
      #expect(run.status == 22)
      #expect(run.error.hasPrefix("apus: The server rejected the request: 500") && run.error.contains("red"))
      #expect(!run.error.unicodeScalars.contains { ["\u{9B}", "\u{202E}"].contains($0) })
    }
  }
}

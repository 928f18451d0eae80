import Apus
import Foundation
import HTTPTypes
import Testing

@testable import ApusTool

@Suite("Presentation of content")
struct DisplayTests {
  private let json = Data(#"{"a":1}"#.utf8)

  private func shown(_ content: Data, _ display: Display) -> String? {
    var display = display
    guard let shown = display.show(content) else { return nil }
    return String(decoding: shown + display.finish(), as: UTF8.self)
  }

  @Test("Content in a pipe is unchanged")
  func pipe() {
    #expect(shown(json, Display("application/json", on: nil, isRaw: false)) == #"{"a":1}"#)
    #expect(shown(Data([0, 1]), Display(nil, on: nil, isRaw: false)) == "\0\u{1}")
  }

  @Test("JSON on a terminal is formatted, unless raw output is requested")
  func terminal() {
    #expect(shown(json, Display("application/problem+json", on: Terminal(), isRaw: false)) == "{\n  \"a\": 1\n}\n")
    #expect(shown(json, Display("application/json", on: Terminal(), isRaw: true)) == #"{"a":1}"#)
    #expect(shown(json, Display("text/plain", on: Terminal(), isRaw: false)) == "{\"a\":1}\n")
  }

  @Test("Binary content is not written to a terminal")
  func binary() {
    #expect(shown(Data([65, 0]), Display("image/png", on: Terminal(), isRaw: false)) == nil)
  }

  @Test(
    "Content is escaped on a terminal, whatever its pieces, and unchanged elsewhere", arguments: [1, 2, 3, .max])
  func harmless(size: Int) {
    let content = Data("a\u{1B}[2J\u{9B}\u{202E}ü\r\nb\r".utf8) + [0x9B, 0x41]
    let pieces = stride(from: 0, to: content.count, by: min(size, content.count)).map { start in
      content[start..<min(start + min(size, content.count), content.count)]
    }
    var onTerminal = Display("text/plain", on: Terminal(), isRaw: false)
    var raw = Display("text/plain", on: Terminal(), isRaw: true)
    var shown = (terminal: Data(), raw: Data())
    for piece in pieces {
      shown.terminal += onTerminal.show(piece) ?? Data()
      shown.raw += raw.show(piece) ?? Data()
    }
    let expected = #"a\u001b[2J\u009b\u202eü"# + "\n" + #"b\u000d\u009bA"# + "\n"
    #expect(String(decoding: shown.terminal + onTerminal.finish(), as: UTF8.self) == expected)
    #expect(shown.raw + raw.finish() == content)
  }
}

import Apus
import Foundation
import Testing

@testable import ApusTool

@Suite("The text of events")
struct EventTextTests {
  private func line(_ event: ServerSentEvent) -> String { String(decoding: EventText.line(event), as: UTF8.self) }

  private func shown(_ event: ServerSentEvent, hasColors: Bool = false) -> String {
    String(decoding: EventText.shown(event, hasColors: hasColors), as: UTF8.self)
  }

  @Test("A line is one JSON object, whatever the event contains")
  func lines() throws {
    #expect(line(ServerSentEvent(text: "a")) == #"{"event":"message","id":"","data":"a"}"# + "\n")
    let event = ServerSentEvent(name: "\"\u{1}", data: Data([0xFF, 0x0A, 0x5C]), id: "\t")
    let text = line(event)
    #expect(text == #"{"event":"\"\u0001","id":"\t","data":"\#u{FFFD}\n\\"}"# + "\n")
    let json = try JSONValue(parsing: text.utf8)
    #expect(json["data"]?.string == "\u{FFFD}\n\\")
  }

  @Test("On a terminal, JSON is formatted and control characters are escaped")
  func terminal() {
    #expect(shown(ServerSentEvent(text: "a\nb")) == "message\na\nb\n\n")
    #expect(shown(ServerSentEvent(name: "add", text: #"[1]"#, id: "7")) == "add 7\n[\n  1\n]\n\n")
    #expect(shown(ServerSentEvent(text: "[1")) == "message\n[1\n\n")
    #expect(shown(ServerSentEvent(text: "")) == "message\n\n")
    #expect(shown(ServerSentEvent(name: "\u{1B}[m\n", text: "\0\u{1B}")).contains(#"\u001b[m\u000a"#))
    #expect(!shown(ServerSentEvent(text: "\0\u{1B}")).unicodeScalars.contains { ["\0", "\u{1B}"].contains($0) })
    #expect(shown(ServerSentEvent(text: "[1]"), hasColors: true).hasPrefix("\u{1B}[1mmessage\u{1B}[0m\n"))
  }
}

import Apus
import Foundation
import HTTPTypes
import Testing

@testable import ApusTool

@Suite("How content is shown")
struct DisplayTests {
  private let json = Data(#"{"a":1}"#.utf8)

  private func shown(_ content: Data, _ display: Display) -> String? {
    var display = display
    guard let shown = display.show(content) else { return nil }
    return String(decoding: shown + display.finish(), as: UTF8.self)
  }

  @Test("in a pipe it is as it came")
  func pipe() {
    #expect(shown(json, Display("application/json", on: nil, isRaw: false)) == #"{"a":1}"#)
    #expect(shown(Data([0, 1]), Display(nil, on: nil, isRaw: false)) == "\0\u{1}")
  }

  @Test("on a terminal JSON is laid out, unless it is wanted as it came")
  func terminal() {
    #expect(shown(json, Display("application/problem+json", on: Terminal(), isRaw: false)) == "{\n  \"a\": 1\n}\n")
    #expect(shown(json, Display("application/json", on: Terminal(), isRaw: true)) == #"{"a":1}"#)
    #expect(shown(json, Display("text/plain", on: Terminal(), isRaw: false)) == "{\"a\":1}\n")
  }

  @Test("binary content is kept from a terminal")
  func binary() {
    #expect(shown(Data([65, 0]), Display("image/png", on: Terminal(), isRaw: false)) == nil)
  }
}

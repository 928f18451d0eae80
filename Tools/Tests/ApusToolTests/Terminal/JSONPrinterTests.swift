import Apus
import Foundation
import HTTPTypes
import Testing

@testable import ApusTool

@Suite("JSON on a terminal")
struct JSONPrinterTests {
  private func printed(_ json: String, by size: Int = .max, hasColors: Bool = false) -> String {
    var printer = JSONPrinter(hasColors: hasColors)
    var output = Data()
    var rest = Data(json.utf8)
    while !rest.isEmpty {
      output += printer.print(Data(rest.prefix(size)))
      rest = Data(rest.dropFirst(size))
    }
    output += printer.finish()
    return String(decoding: output, as: UTF8.self)
  }

  @Test("Each value is on a separate line, indented by two spaces per level")
  func layout() {
    let json = #"{"b":[1,2.50,{"c":null}],"a":"x\"{}[],:","e":{},"f":[ ], "g" : true}"#
    let laidOut = """
      {
        "b": [
          1,
          2.50,
          {
            "c": null
          }
        ],
        "a": "x\\"{}[],:",
        "e": {},
        "f": [],
        "g": true
      }

      """
    #expect(printed(json) == laidOut)
    #expect(printed(laidOut) == laidOut)
  }

  @Test("The output does not depend on the size of the pieces", arguments: 1...5)
  func pieces(size: Int) {
    let json = #"{"a":["ü\\","\"",-1e5,[[]],{}],"b":{"c":false}}"#
    #expect(printed(json, by: size) == printed(json))
  }

  @Test(
    "The formatted text is the same JSON",
    arguments: ["1", "\"a\"", "[[[]]]", "[1,[2,{\"a\":[{}]}]]", " {\"a\" : 1e400 } "])
  func same(json: String) {
    let blanks: (Character) -> Bool = { !$0.isWhitespace }
    #expect(printed(json).filter(blanks) == json.filter(blanks))
  }

  @Test("Keys, strings and other values differ only in color")
  func colors() {
    let colored = printed(#"{"a":"b","c":1}"#, hasColors: true)
    #expect(colored.contains("\u{1B}[34m\"a\"\u{1B}[0m: \u{1B}[32m\"b\"\u{1B}[0m"))
    #expect(colored.contains("\u{1B}[33m1\u{1B}[0m"))
    #expect(colored.replacing(/\u{1B}\[[0-9]+m/, with: "") == printed(#"{"a":"b","c":1}"#))
  }

  @Test("Control characters are escaped")
  func controls() {
    let shown = printed("[\"\u{1B}[2J\u{7}\", \u{1B}c]")
    #expect(!shown.contains("\u{1B}") && !shown.contains("\u{7}"))
    #expect(shown.contains("\\u001b[2J\\u0007"))
  }

  @Test("C1 control characters are escaped, however they arrive", arguments: [1, 2, .max])
  func laterControls(size: Int) {
    let shown = printed("[\"\u{80}\u{9B}2J\u{9F}\u{A0}\u{BF}\u{E9}\", \u{85}x]", by: size)
    #expect(shown == "[\n  \"\\u0080\\u009b2J\\u009f\u{A0}\u{BF}\u{E9}\",\n  \\u0085x\n]\n")
    var printer = JSONPrinter(hasColors: false)
    #expect(printer.print(Data([0x22, 0xC2])) + printer.finish() == Data([0x22, 0xC2, 0x0A]))
  }

  @Test(
    "Content that is not JSON keeps all its characters", arguments: ["}}]", "<html>", "{\"a", "[1,2", "{]}", "\"\\"])
  func broken(text: String) {
    let blanks: (Character) -> Bool = { !$0.isWhitespace }
    #expect(printed(text).filter(blanks) == text.filter(blanks))
  }

  @Test("Each further document starts a new line")
  func documents() {
    #expect(printed("{\"a\":1}\n2 \"b\"") == "{\n  \"a\": 1\n}\n2\n\"b\"\n")
  }

  @Test("Direction marks and single control bytes are escaped, however they arrive", arguments: [1, 2, .max])
  func directions(size: Int) {
    #expect(
      printed("[\"\u{202E}\u{2066}\u{2069}\u{200E}\"]", by: size) == "[\n  \"\\u202e\\u2066\\u2069\u{200E}\"\n]\n")
    var printer = JSONPrinter(hasColors: false)
    let shown = printer.print(Data([0x22, 0x9B, 0x41, 0xE2, 0x80, 0x22, 0x2C, 0xE2, 0x9B, 0x2C])) + printer.finish()
    #expect(!shown.contains(0x9B) && shown.filter { $0 == 0x80 }.isEmpty)
    #expect(shown.count { $0 == UInt8(ascii: ",") } == 2)
  }
}

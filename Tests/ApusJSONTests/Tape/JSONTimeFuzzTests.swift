import ApusJSON
import Foundation
import TestSupport
import Testing

/// A text of a given size that is expensive to parse.
private struct Hostile: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let bytes: @Sendable (Int) -> [UInt8]

  init(_ name: String, _ bytes: @escaping @Sendable (Int) -> [UInt8]) {
    (testDescription, self.bytes) = (name, bytes)
  }

  /// Creates a text that repeats a piece between a start and an end.
  init(_ name: String, _ start: String, _ piece: String, _ end: String) {
    self.init(name) { size in
      Array((start + String(repeating: piece, count: size / piece.utf8.count) + end).utf8)
    }
  }

  static let all: [Hostile] = [
    Hostile("deep arrays", "", "[", ""), Hostile("deep objects", "", #"{"a":"#, ""),
    Hostile("deep mixed", "", #"[{"a":"#, ""),
    Hostile(
      "wide nests", String(repeating: "[[[[", count: 127) + "[[[[],", "[{}],", "1" + String(repeating: "]", count: 512)),
    Hostile("small objects", "[", #"{"a":1},"#, "1]"), Hostile("small arrays", "[", "[],", "1]"),
    Hostile("small values", "[", "1,", "1]"),
    Hostile("escapes", #"[""#, #"\n\u00e9\ud83d\ude00"#, #""]"#), Hostile("long number", "", "7", ""),
    Hostile("long fraction", "0.", "3", ""), Hostile("long exponent", "1e", "9", ""),
    Hostile("numbers", "[", "-1.5e-300,", "1]"),
    Hostile("long string", #"""#, "é", #"""#), Hostile("space", "[", " ", "1]"),
    Hostile("one key", "{", #""a":1,"#, #""a":1}"#),
    Hostile("unterminated string", #"""#, "x", ""), Hostile("unterminated array", "[", "1,", ""),
    Hostile("marks in a string", #"["a"#, "\u{301}\u{323}", #""]"#),
    Hostile("marks in a name", #"{"a"#, "\u{301}\u{323}", #"":1}"#),
    Hostile("escaped marks in a name", #"{"a"#, #"\u0323\u0f73"#, #"":1}"#),
    Hostile("marks in names", "{", #""a"# + String(repeating: "\u{301}\u{323}", count: 60) + #"":1,"#, #""b":1}"#),
    Hostile("many keys") { size in
      Array(("{" + (0..<size / 10).map { #""\#($0)":0,"# }.joined() + #""a":1}"#).utf8)
    },
  ]
}

@Suite("Time to parse JSON", .serialized) struct JSONTimeFuzzTests {
  @Test("Fuzz: parsing ten times the bytes takes at most twelve times as long", arguments: Hostile.all)
  private func time(of hostile: Hostile) {
    let holds = LinearTime.holds(for: hostile.bytes) { bytes in
      let value = try? JSONValue(parsing: bytes)
      _ = value?.number.map { ($0.double, $0.int, $0.hashValue) }
    }
    #expect(holds)
  }
}

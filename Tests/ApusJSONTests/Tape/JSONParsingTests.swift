import ApusJSON
import Foundation
import Testing

@Suite("Parsing JSON") struct JSONParsingTests {
  private func reason(_ bytes: [UInt8], limits: JSONLimits = JSONLimits()) -> JSONError? {
    do throws(JSONError) {
      _ = try JSONValue(parsing: bytes, limits: limits)
      return nil
    } catch {
      return error
    }
  }

  @Test(
    "Every kind of value is parsed",
    arguments: [
      ("null", .null), (" true ", true), ("false", false), ("0", 0), ("-1.5e3", -1500), (#""""#, ""), ("[]", []),
      ("{}", [:]), ("\t[\n1 ,\r 2 ]\n", [1, 2]),
      (
        #"{"a":[null,true,1,2.5,"x",{}],"b":{"c":[]}}"#,
        ["a": [.null, true, 1, 2.5, "x", [:]], "b": ["c": []]]
      ),
      (#"{"":{"":[[[]]]}}"#, ["": ["": [[[]]]]]), (#"["é日😀"]"#, ["é日😀"]), (#"{"a":1,"b":2,"a":3}"#, ["a": 3, "b": 2]),
      (#"["\"\\\/\b\f\n\r\t\u0041\u00e9\u65E5\ud83d\uDE00\u0000"]"#, ["\"\\/\u{8}\u{C}\n\r\tAé日😀\0"]),
      ("\u{FEFF}[1]", [1]), ("\"\u{7F}\u{2028}\"", "\u{7F}\u{2028}"),
      (#"[{"a":[]},{"b":{}}]"#, [["a": []], ["b": [:]]]),
    ] as [(String, JSONValue)])
  func values(text: String, expected: JSONValue) throws {
    #expect(try JSONValue(parsing: text.utf8) == expected)
    #expect(try JSONValue(parsing: Data(text.utf8)) == expected)
    #expect(try JSONValue(parsing: Array(text.utf8).lazy.map { $0 }) == expected)
  }

  @Test(
    "Invalid JSON is refused with a reason and an offset",
    arguments: [
      ("", .unexpectedEnd, 0), (" \n", .unexpectedEnd, 2), ("[", .unexpectedEnd, 1), ("[1", .unexpectedEnd, 2),
      ("[1,", .unexpectedEnd, 3), ("{", .unexpectedEnd, 1), (#"{"a""#, .unexpectedEnd, 4),
      (#"{"a":"#, .unexpectedEnd, 5),
      (#"{"a":1"#, .unexpectedEnd, 6), (#""abc"#, .unexpectedEnd, 4), (#""a\"#, .unexpectedEnd, 3),
      (#""\u00"#, .unexpectedEnd, 5), ("-", .unexpectedEnd, 1), ("1.", .unexpectedEnd, 2), ("1e", .unexpectedEnd, 2),
      ("1e+", .unexpectedEnd, 3), ("tru", .unexpectedEnd, 3), ("nulL", .unexpectedByte, 3),
      ("nope", .unexpectedByte, 1),
      ("[1,]", .unexpectedByte, 3), ("[,1]", .unexpectedByte, 1), ("[1 2]", .unexpectedByte, 3),
      (#"{"a":1,}"#, .unexpectedByte, 7),
      ("{1:2}", .unexpectedByte, 1), (#"{"a" 1}"#, .unexpectedByte, 5), (#"{"a":1 "b":2}"#, .unexpectedByte, 7),
      ("[1}", .unexpectedByte, 2), (#"{"a":1]"#, .unexpectedByte, 6), ("{]", .unexpectedByte, 1),
      ("[}", .unexpectedByte, 1),
      ("]", .unexpectedByte, 0), ("'a'", .unexpectedByte, 0), ("+1", .unexpectedByte, 0), (".5", .unexpectedByte, 0),
      ("// x\n1", .unexpectedByte, 0), ("NaN", .unexpectedByte, 0), ("Infinity", .unexpectedByte, 0),
      ("\u{A0}1", .unexpectedByte, 0), ("[1]\u{C}", .trailingBytes, 3), ("{}{}", .trailingBytes, 2),
      ("1 2", .trailingBytes, 2),
      ("truefalse", .trailingBytes, 4), ("[]\0", .trailingBytes, 2), ("01", .malformedNumber, 1),
      ("-01", .malformedNumber, 2),
      ("1.5.2", .malformedNumber, 3), ("1x", .malformedNumber, 1), ("-a", .malformedNumber, 1),
      ("1.e5", .malformedNumber, 2),
      ("0x10", .malformedNumber, 1), ("1e5e5", .malformedNumber, 3), ("[1-]", .malformedNumber, 2),
      (#""\x""#, .malformedEscape, 1), (#""\u12G4""#, .malformedEscape, 1), (#""ab\U0041""#, .malformedEscape, 3),
      (#""\ud83d""#, .loneSurrogate, 1), (#""\ude00""#, .loneSurrogate, 1), (#""\ud83d\n""#, .loneSurrogate, 1),
      (#""\ud83dx""#, .loneSurrogate, 1), (#""\ud83d\ud83d""#, .loneSurrogate, 1),
      (#""\ud83d\u0041""#, .loneSurrogate, 1),
      ("\"a\nb\"", .controlCharacter, 2), ("\"\0\"", .controlCharacter, 1), ("{\"\u{1F}\":1}", .controlCharacter, 2),
    ] as [(String, JSONError.Reason, Int)])
  func malformed(text: String, reason: JSONError.Reason, offset: Int) {
    let expected = JSONError(reason, at: offset)
    #expect(self.reason(Array(text.utf8)) == expected)
    // Decoding a model from the same text throws the same error.
    #expect(throws: expected) { try JSONCoding.default.decode([String: Never?].self, from: Array(text.utf8)) }
  }

  @Test(
    "Invalid UTF-8 is refused",
    arguments: [
      [0x80], [0xC0, 0x80], [0xC1, 0xBF], [0xC3], [0xC3, 0x28], [0xE0, 0x80, 0x80], [0xE2, 0x82], [0xED, 0xA0, 0x80],
      [0xEF, 0xBF], [0xF0, 0x80, 0x80, 0x80], [0xF0, 0x9F, 0x98], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80],
      [0xFF],
      [0xE2, 0x28, 0xA1], [0xF0, 0x9F, 0x28, 0x80],
    ] as [[UInt8]])
  func invalidUTF8(bytes: [UInt8]) {
    #expect(reason([0x22, 0x61] + bytes + [0x22]) == JSONError(.invalidUTF8, at: 2))
    #expect(reason([0x22, 0x61] + bytes) == JSONError(.invalidUTF8, at: 2))
  }

  @Test("Content in UTF-16 and UTF-32 is refused")
  func otherEncodings() throws {
    for encoding in [String.Encoding.utf16, .utf16LittleEndian, .utf16BigEndian, .utf32, .utf32BigEndian] {
      #expect(reason(Array(try #require(#"{"a":[1]}"#.data(using: encoding)))) != nil)
    }
  }

  @Test("The nesting depth of a parsed text is limited")
  func depth() {
    for (open, close) in [("[", "]"), (#"{"a":"#, "}"), (#"[{"a":"#, "}]")] {
      let levels = open.hasPrefix("[{") ? 2 : 1
      func text(_ depth: Int) -> [UInt8] {
        let count = depth / levels
        return Array((String(repeating: open, count: count) + "1" + String(repeating: close, count: count)).utf8)
      }
      #expect(reason(text(512)) == nil)
      #expect(reason(text(514))?.reason == .tooDeep)
      #expect(reason(text(16), limits: JSONLimits(depth: 16)) == nil)
      #expect(reason(text(18), limits: JSONLimits(depth: 16))?.reason == .tooDeep)
      #expect(reason(text(2_000_000), limits: JSONLimits(depth: .max))?.reason == .tooDeep)
    }
    #expect(reason(Array("[]".utf8), limits: JSONLimits(depth: -1)) == JSONError(.tooDeep, at: 0))
    #expect(reason(Array("1".utf8), limits: JSONLimits(depth: 0)) == nil)
    #expect(reason(Array("[[],[],[[]]]".utf8), limits: JSONLimits(depth: 3)) == nil)
  }

  @Test("The number of bytes of a text is limited if a limit is set")
  func size() {
    #expect(reason(Array("[1]".utf8), limits: JSONLimits(bytes: 3)) == nil)
    #expect(reason(Array("[1] ".utf8), limits: JSONLimits(bytes: 3)) == JSONError(.tooLarge, at: 3))
  }

  @Test("A JSONError has a line and a column")
  func position() throws {
    let text = "{\n  \"a\": 1,\n  \"b\": x\n}"
    let error = try #require(reason(Array(text.utf8)))
    #expect(error == JSONError(.unexpectedByte, at: 19))
    #expect(error.position(in: text.utf8) == (line: 3, column: 8))
    #expect(error.description == "unexpected byte at byte 19")
    #expect(JSONError(.unexpectedEnd, at: 0).position(in: "".utf8) == (line: 1, column: 1))
  }
}

import ApusTesting
import Foundation
import TestSupport
import Testing

@testable import ApusJSON

@Suite("Encoding, compared with Foundation") struct EncodingComparisonTests {
  private static let codings: [JSONCoding] = {
    var lenient = JSONCoding(keys: .snakeCase, dates: .secondsSince1970, bytes: .numbers)
    lenient.nonFiniteNumbers = .strings(infinity: "inf", negativeInfinity: "-inf", nan: "nan")
    var pretty = JSONCoding.default
    pretty.isPrettyPrinted = true
    return [.default, .snakeCase, lenient, pretty, JSONCoding(dates: .millisecondsSince1970)]
  }()

  private func compare(_ value: some Encodable, _ location: SourceLocation = #_sourceLocation) throws {
    for coding in Self.codings {
      var foundation = coding
      foundation.coder = .foundation
      let ours = String(decoding: try coding.encode(value), as: UTF8.self)
      let theirs = String(decoding: try foundation.encode(value), as: UTF8.self)
      #expect(ours == theirs, sourceLocation: location)
    }
  }

  @Test("Encoding values of every kind yields the same bytes as Foundation")
  func values() throws {
    try compare(Scalars())
    try compare(FoundationValues())
    try compare(Optionals())
    try compare(Dog())
    try compare(Manual())
    try compare([Flexible.number(1), .text("x"), .list([.text("y"), .list([])])])
    try compare([[Int]]())
    try compare([[String: Int]()])
    try compare(["b": 1, "a": 2, "a_b": 3, "aB": 4, "é": 5, "": 6, "a\"b": 7])
    for text in ["", "plain", "12345678", "1234567\"", "\u{0}\u{1F}\u{7F}", "/\\\"\n\r\t\u{8}\u{C}", "é日😀\u{2028}"] {
      try compare(text)
      try compare([text + text])
    }
    for number in [0, 1, -1, 9, 10, 99, 100, Int.max, .min] { try compare(number) }
    for number in [0.0, -0.0, 1, 1.5, 1e15, 1e16, 1e17, 1e300, .leastNonzeroMagnitude, 0.1, 123456789.5] {
      try compare(number)
    }
  }

  @Test("Encoding dictionaries without string keys, sets and enums yields the same content as Foundation")
  func unordered() throws {
    // The order of the elements varies, so these values are compared after decoding.
    for coding in Self.codings {
      let text = try coding.encode(Containers())
      var foundation = coding
      foundation.coder = .foundation
      #expect(try foundation.decode(Containers.self, from: text) == Containers())
      #expect(try JSONValue(parsing: text) == JSONValue(parsing: foundation.encode(Containers())))
    }
  }

  @Test("Objects with many members are sorted, and the last of several members with the same name is written")
  func members() throws {
    struct Members: Encodable {
      let names: [String]
      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: JSONKey.self)
        for (index, name) in names.enumerated() { try container.encode(index, forKey: JSONKey(name)) }
      }
    }
    var generator = SeededGenerator(seed: 1)
    for count in [2, 5, 32, 33, 200] {
      let names = (0..<count).map { "prefix-\($0 % max(1, count - 3))" }.shuffled(using: &generator)
      try compare(Members(names: names))
    }
  }

  @Test("Fuzz: a JSONValue is encoded as by Foundation", arguments: 0..<3)
  func any(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<fuzzRounds(usually: 200) {
      let numbers = (0..<3).map { _ in Double(bitPattern: generator.next()) }.filter(\.isFinite)
      try compare(numbers)
      let scalars = (0..<12).compactMap { _ in Unicode.Scalar(UInt32.random(in: 0...0x2FF, using: &generator)) }
      try compare([String(String.UnicodeScalarView(scalars)): numbers])
    }
  }

  @Test("Infinity and NaN are refused with their coding path, or encoded as the strings of the coding")
  func nonFinite() throws {
    for number in [Double.infinity, -.infinity, .nan] {
      let error = #expect(throws: EncodingError.self) { try JSONCoding.default.encode(["a": [1, number]]) }
      guard case .invalidValue(_, let context) = error else { return #expect(Bool(false)) }
      #expect(context.codingPath.map(\.stringValue) == ["a", "Index 1"])
      #expect(throws: EncodingError.self) { try JSONCoding.default.encode([Float(number)]) }
    }
    let lenient = Self.codings[2]
    #expect(try lenient.encode([Double.infinity, -.infinity, .nan]) == Data(#"["inf","-inf","nan"]"#.utf8))
    #expect(try lenient.decode([Float].self, from: Data(#"["inf","-inf",1]"#.utf8)) == [.infinity, -.infinity, 1])
  }

  @Test("A JSONValue of the maximum depth can be encoded with white space, too")
  func deepValues() throws {
    let text = String(repeating: "[", count: 510) + #"{"b":[],"a":1.50}"# + String(repeating: "]", count: 510)
    let value = try JSONValue(parsing: Data(text.utf8))
    var pretty = JSONCoding.default
    pretty.isPrettyPrinted = true
    let written = String(decoding: try pretty.encode(value), as: UTF8.self)
    #expect(
      written.split(whereSeparator: \.isWhitespace).joined()
        == text.replacing(#""b":[],"a":1.50"#, with: #""a":1.50,"b":[]"#))
  }

  @Test("A container can be reopened under any name, also among many members")
  func reopened() throws {
    struct Reopening: Encodable {
      let names: [String]
      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: JSONKey.self)
        for value in 0..<2 {
          for name in names {
            var list = container.nestedUnkeyedContainer(forKey: JSONKey(name))
            try list.encode(value)
          }
        }
      }
    }
    let names = ["a", "a\"b", "é", "ab", ""] + (0..<200).map { "container\($0)" }
    let lists = try JSONCoding.default.decode(
      [String: [Int]].self, from: JSONCoding.default.encode(Reopening(names: names)))
    #expect(lists.count == names.count && lists.values.allSatisfy { $0 == [0, 1] })
  }

  @Test("A value that encodes nothing becomes an empty object, but throws an error at the top level")
  func nothing() throws {
    struct Nothing: Encodable { func encode(to encoder: any Encoder) throws {} }
    try compare([Nothing()])
    #expect(throws: EncodingError.self) { try JSONCoding.default.encode(Nothing()) }
  }

  @Test("Encoders have their coding path and count")
  func paths() throws {
    struct Paths: Encodable {
      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: JSONKey.self)
        var list = container.nestedUnkeyedContainer(forKey: JSONKey("list\""))
        try list.encode(1)
        #expect(list.count == 1)
        var inner = list.nestedContainer(keyedBy: JSONKey.self)
        #expect(inner.codingPath.map(\.stringValue) == ["Index 0", "list\"", "Index 1"])
        try inner.encode(2, forKey: JSONKey("x"))
        try list.encodeNil()
        #expect(container.codingPath.map(\.stringValue) == ["Index 0"])
      }
    }
    #expect(try JSONCoding.default.encode([Paths()]) == Data(#"[{"list\"":[1,{"x":2},null]}]"#.utf8))
  }

  @Test("A JSONValue inside a model keeps the text of its numbers")
  func anyJSON() throws {
    struct Model: Codable, Equatable {
      var id = 1
      var any: JSONValue = .array([.number(JSONNumber("9007199254740993.10") ?? 0), ["a": .null]])
      var number = JSONNumber("1e999") ?? 0
    }
    let text = try JSONCoding.default.encode(Model())
    #expect(text == Data(#"{"any":[9007199254740993.10,{"a":null}],"id":1,"number":1e999}"#.utf8))
    let read = try JSONCoding.default.decode(Model.self, from: text)
    #expect(read.any.description == "[9007199254740993.10,{\"a\":null}]" && read.number.description == "1e999")
  }
}

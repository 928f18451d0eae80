import ApusTesting
import Foundation
import TestSupport
import Testing

@testable import ApusJSON

@Suite("Decoding, compared with Foundation") struct DecodingComparisonTests {
  private static let codings: [JSONCoding] = {
    var lenient = JSONCoding(keys: .snakeCase, dates: .secondsSince1970, bytes: .numbers)
    lenient.nonFiniteNumbers = .strings(infinity: "inf", negativeInfinity: "-inf", nan: "nan")
    return [.default, .snakeCase, lenient, JSONCoding(dates: .millisecondsSince1970)]
  }()

  /// Compares the decoding of a value that Foundation has encoded, and of variants with mistakes.
  private func compare<Value: Codable & Equatable>(_ value: Value) throws {
    for coding in Self.codings {
      var foundation = coding
      foundation.coder = .foundation
      let text = try foundation.encode(value)
      #expect(try coding.decode(Value.self, from: text) == value)
      foundation.isPrettyPrinted = true
      #expect(try coding.decode(Value.self, from: foundation.encode(value)) == value)
      var generator = SeededGenerator(seed: 7)
      for _ in 0..<fuzzRounds(usually: 40) {
        expectAgreement(Value.self, Self.changed(text, &generator), coding)
      }
    }
  }

  /// Returns a text in which a value is replaced by another value, or a member is removed.
  private static func changed(_ text: Data, _ generator: inout SeededGenerator) -> Data {
    guard let root = try? JSONValue(parsing: text) else { return text }
    let replacements: [JSONValue] = [
      .null, true, 0, -1, 300, 1.5, 1e40, "", "1", [], [1], [:], ["a": 1],
      .number(JSONNumber("18446744073709551616") ?? 0),
    ]
    var left = Int.random(in: 0..<40, using: &generator)
    func change(_ value: JSONValue) -> JSONValue {
      defer { left -= 1 }
      if left == 0 { return replacements.randomElement(using: &generator) ?? .null }
      switch value {
      case .array(let elements): return .array(elements.map(change))
      case .object(let members):
        var changed: [String: JSONValue] = [:]
        for (name, member) in members.sorted(by: { $0.key < $1.key }) {
          if left == 1 {
            left -= 1
            continue
          }
          changed[name] = change(member)
        }
        return .object(changed)
      default: return value
      }
    }
    return Data(change(root).utf8())
  }

  @Test("Decoding scalars of every type agrees with Foundation") func scalars() throws { try compare(Scalars()) }
  @Test("Decoding Foundation's types agrees with Foundation") func foundation() throws {
    try compare(FoundationValues())
  }
  @Test("Decoding optional values agrees with Foundation") func optionals() throws { try compare(Optionals()) }
  @Test("Decoding arrays, dictionaries, sets and enums agrees with Foundation") func containers() throws {
    try compare(Containers())
  }
  @Test("Decoding superclasses agrees with Foundation") func classes() throws { try compare(Dog()) }
  @Test("Decoding manually nested containers agrees with Foundation") func manual() throws { try compare(Manual()) }
  @Test("Decoding types that try several representations agrees with Foundation") func flexible() throws {
    try compare([Flexible.number(1), .text("x"), .list([.text("y"), .list([])])])
  }

  @Test(
    "Decoding numbers agrees with Foundation",
    arguments: [
      "0", "-0", "1", "-1", "1.0", "1.5", "1e2", "1e-2", "100e-2", "12345678901234567890", "9223372036854775807",
      "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "18446744073709551615",
      "18446744073709551616", "127", "128", "-128", "-129", "255", "256", "1e400", "-1e400",
      "1.7976931348623157e308", "0.1", "123456789.123456789", "9007199254740993",
      "340282366920938463463374607431768211455", "3.5e38", "3.4028235e38", "16777217", "0.30000000000000004",
      "true", "\"1\"", "null", "[1]", "{}", "1E+2", "1e05", "0e0", "0.0", "-0.0", "1000000000000000000000",
    ])
  func numbers(text: String) {
    expectAgreement(Int.self, text.utf8)
    expectAgreement(Int8.self, text.utf8)
    expectAgreement(UInt8.self, text.utf8)
    expectAgreement(Int64.self, text.utf8)
    expectAgreement(UInt64.self, text.utf8)
    expectAgreement(Int128.self, text.utf8)
    expectAgreement(Double.self, text.utf8)
    expectAgreement(Float.self, text.utf8)
    expectAgreement(Decimal.self, text.utf8)
    expectAgreement(Bool.self, text.utf8)
    expectAgreement(String.self, text.utf8)
    expectAgreement(Int?.self, text.utf8)
  }

  @Test("Numbers too small for the type are decoded as zero, and subnormal numbers exactly; Foundation refuses both")
  func small() throws {
    #expect(try JSONCoding.default.decode(Double.self, from: Data("1e-400".utf8)) == 0)
    #expect(try JSONCoding.default.decode(Float.self, from: Data("1e-46".utf8)) == 0)
    #expect(try JSONCoding.default.decode(Double.self, from: Data("-1e-400".utf8)).sign == .minus)
    for text in ["5e-324", "2.2250738585072014e-308", "4.9406564584124654e-324"] {
      #expect(try JSONCoding.default.decode(Double.self, from: Data(text.utf8)) == Double(text))
    }
  }

  @Test(
    "Apus and Foundation accept and refuse the same texts",
    arguments: [
      "", " ", "[1,]", #"{"a":1,}"#, "[1 2]", "{\"a\" 1}", "nul", "01", "1.", ".5", "+1", "1e", "[", "]", "{", "\"",
      "\"\\x\"", "\"\\ud800\"", "\"\u{1}\"", "[1]x", "\u{FEFF}[1]", " \t\r\n[ 1 , 2 ] ", "NaN", "Infinity",
      "// comment\n[1]", "['a']", "[1]\0", "\u{A0}[1]",
    ])
  func texts(text: String) {
    expectAgreement([Int].self, text.utf8)
    expectAgreement([String: Int].self, text.utf8)
    expectAgreement(String.self, text.utf8)
    expectAgreement(Flexible.self, text.utf8)
  }

  @Test("Fuzz: decoding mutated texts agrees with Foundation", arguments: 0..<4)
  func mutations(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let texts = [
      try JSONCoding.default.encode(Scalars()), try JSONCoding.default.encode(Containers()),
      try JSONCoding.default.encode(Manual()), try JSONCoding.default.encode([Optionals()]),
    ]
    for _ in 0..<fuzzRounds(usually: 200) {
      for (index, text) in texts.enumerated() {
        var bytes = Array(text)
        for _ in 0..<Int.random(in: 1...2, using: &generator) {
          let place = Int.random(in: 0..<bytes.count, using: &generator)
          // The bytes contain no exponent, because results for small numbers differ, and no byte outside ASCII, because
          // Foundation repairs such bytes in names.
          let new = Array(#"{}[]",:\u-+.0123456789tfn "#.utf8).randomElement(using: &generator) ?? 0
          if Bool.random(using: &generator) { bytes[place] = new } else { bytes.insert(new, at: place) }
        }
        switch index {
        case 0: expectAgreement(Scalars.self, bytes)
        case 1: expectAgreement(Containers.self, bytes)
        case 2: expectAgreement(Manual.self, bytes)
        default: expectAgreement([Optionals].self, bytes)
        }
      }
    }
  }
}

import ApusJSON
import Foundation
import Testing

@Suite("JSON numbers") struct JSONNumberTests {
  @Test(
    "A JSONNumber keeps its text",
    arguments: [
      "0", "-0", "9007199254740993", "0.1", "1e400", "-1E-400", "3.141592653589793238462643383279", "1.10",
      "18446744073709551616",
      "1e99999999999999999999",
    ])
  func exact(text: String) throws {
    #expect(try #require(JSONNumber(text)).description == text)
    #expect(try JSONValue(parsing: text.utf8) == .number(#require(JSONNumber(text))))
    #expect(try JSONValue(parsing: "[\(text)]".utf8).description == "[\(text)]")
  }

  @Test(
    "Creating a JSONNumber from an invalid text returns nil",
    arguments: [
      "", " 1", "1 ", "01", "1.", ".5", "+1", "1e", "1e+", "--1", "0x1", "NaN", "inf", "1,5", "١", "1\u{301}", "1,",
      "1]",
    ])
  func malformed(text: String) {
    #expect(JSONNumber(text) == nil)
  }

  @Test(
    "JSONNumbers with equal values are equal",
    arguments: [
      ("1", "1.0", true), ("1", "10e-1", true), ("100", "1E+2", true), ("0", "-0", true), ("0", "0.000e5", true),
      ("-1", "1", false),
      ("0.1", "0.10", true), ("0.1", "0.1000000000000000000000000001", false),
      ("9007199254740993", "9007199254740992", false),
      ("1e400", "10e399", true), ("1e400", "1e401", false), ("1e99999999999999999", "10e99999999999999998", true),
      ("1e99999999999999999999", "1e99999999999999999998", false),
      ("1e99999999999999999999", "1e99999999999999999999", true),
      ("0e99999999999999999999", "0", true), ("12.5", "125e-1", true), ("1e5", "1e-5", false), ("1e007", "1e7", true),
    ] as [(String, String, Bool)])
  func equality(one: String, other: String, isEqual: Bool) throws {
    let (one, other) = (try #require(JSONNumber(one)), try #require(JSONNumber(other)))
    #expect((one == other) == isEqual)
    #expect((other == one) == isEqual)
    #expect(!isEqual || one.hashValue == other.hashValue)
    #expect(Set([one, other]).count == (isEqual ? 1 : 2))
  }

  @Test("A JSONNumber's integer is exact or nil, in any notation")
  func integers() throws {
    func number(_ text: String) throws -> JSONNumber { try #require(JSONNumber(text)) }
    #expect(try number("9007199254740993").int == 9_007_199_254_740_993)
    #expect(try number("9223372036854775807").int64 == .max && number("-9223372036854775808").int64 == .min)
    #expect(try number("9223372036854775808").int64 == nil && number("-9223372036854775809").int64 == nil)
    #expect(try number("18446744073709551615").uint64 == .max && number("18446744073709551616").uint64 == nil)
    #expect(try number("-1").uint64 == nil && number("-0").uint64 == 0 && number("0.0").int == 0)
    #expect(try number("1e2").int == 100 && number("1.50e1").int == 15 && number("1.5").int == nil)
    #expect(try number("1e18").int64 == 1_000_000_000_000_000_000 && number("1e19").int64 == nil)
    #expect(try number("1e19").uint64 == 10_000_000_000_000_000_000 && number("1e20").uint64 == nil)
    #expect(try number("1e99999999999999999999").int == nil && number("1e-5").int == nil)
  }

  @Test("A JSONNumber's Double is the nearest Double, or infinite for a number out of range")
  func doubles() throws {
    for (text, value) in [
      ("0.1", 0.1), ("-2.5e-3", -0.0025), ("1e400", .infinity), ("-1e400", -.infinity), ("1e-400", 0),
    ] {
      #expect(try #require(JSONNumber(text)).double == value)
    }
    #expect(try #require(JSONNumber("9007199254740993")).double == 9_007_199_254_740_992)
  }

  @Test("JSONNumbers can be created from integers, Doubles and literals")
  func making() {
    #expect(JSONNumber(UInt64.max).description == "18446744073709551615" && JSONNumber(Int8(-3)).description == "-3")
    for (value, text) in [
      (0.1, "0.1"), (5, "5"), (-0.0, "-0.0"), (1e300, "1e+300"), (.leastNonzeroMagnitude, "5e-324"),
      (1e15, "1000000000000000"),
    ] {
      #expect(JSONNumber(value)?.description == text)
      #expect(JSONNumber(value)?.double == value)
    }
    #expect(JSONNumber(Double.infinity) == nil && JSONNumber(-Double.infinity) == nil && JSONNumber(Double.nan) == nil)
    #expect((2.5 as JSONNumber).description == "2.5" && (7 as JSONNumber).description == "7")
    #expect(JSONNumber(floatLiteral: .infinity).double == .greatestFiniteMagnitude)
    #expect(JSONNumber(floatLiteral: .nan).double.isFinite)
  }

  @Test("With other coders, 64-bit integers are exact and other JSONNumbers are rounded to the nearest Double")
  func coders() throws {
    for text in ["9007199254740993", "-9223372036854775808", "18446744073709551615", "0.1", "-2.5", "0", "1e+300"] {
      let number = try #require(JSONNumber(text))
      let written = try JSONEncoder().encode([number])
      #expect(try JSONDecoder().decode([JSONNumber].self, from: written) == [number])
      #expect(try JSONDecoder().decode([JSONValue].self, from: Data("[\(text)]".utf8)) == [.number(number)])
      let list = try PropertyListEncoder().encode([number])
      #expect(try PropertyListDecoder().decode([JSONNumber].self, from: list) == [number])
    }
    let long = try #require(JSONNumber("0.12345678901234567890123"))
    let rounded = try JSONDecoder().decode([JSONNumber].self, from: JSONEncoder().encode([long]))
    #expect(rounded.map(\.double) == [long.double])
    #expect(throws: EncodingError.self) { try JSONEncoder().encode([#require(JSONNumber("1e400"))]) }
    #expect(throws: DecodingError.self) { try JSONDecoder().decode([JSONNumber].self, from: Data("[1e400]".utf8)) }
    #expect(throws: DecodingError.self) { try JSONDecoder().decode([JSONNumber].self, from: Data(#"["1"]"#.utf8)) }
  }
}

import ApusTesting
import Foundation
import TestSupport
import Testing

@testable import ApusJSON

@Suite("Decimal numbers as doubles") struct JSONDoubleTests {
  private func value(_ text: String) -> Double {
    var text = text
    return text.withUTF8 { JSONDouble.value(UnsafeRawBufferPointer($0)) }
  }

  private func expectNearest(_ text: String) {
    let expected = Double(text) ?? .infinity
    #expect(value(text).bitPattern == expected.bitPattern, "\(text): \(value(text)) instead of \(expected)")
  }

  @Test("Numbers near ties, at the limits and with many digits are converted to the nearest Double")
  func known() {
    for text in [
      "0", "-0", "-0.0", "0.000", "1", "0.1", "0.3", "9007199254740993", "9007199254740992.5", "9007199254740993.0",
      "9007199254740995e-1", "18446744073709551615", "18446744073709551616", "9999999999999999999", "1e22", "1e23",
      "8.5e22", "1.7976931348623157e308", "1.7976931348623159e308", "1e309", "5e-324", "2e-324",
      "2.2250738585072011e-308",
      "123456789012345678901234567890", "0.000000000000000000000000001", "1e-7", "4503599627370496.5",
      "4503599627370497.5", "0.500000000000000166533453693773481063544750213623046875", "1e0001", "1e-0005", "1E+5",
      "3.141592653589793", "48.858093212345678", "-179.99999999999997",
    ] {
      expectNearest(text)
    }
  }

  @Test("Fuzz: every Double is parsed exactly from its text, with any number of digits", arguments: 0..<4)
  func roundTrip(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<fuzzRounds(usually: 3000) {
      let number = Double(bitPattern: generator.next())
      if number.isFinite { expectNearest("\(number)") }
      expectNearest("\(Double.random(in: -180...180, using: &generator))")
      let mantissa = UInt64.random(
        in: 0...UInt64.max >> UInt64.random(in: 0..<64, using: &generator), using: &generator)
      expectNearest("\(mantissa)e\(Int.random(in: -30...30, using: &generator))")
      let digits = "\(mantissa)"
      expectNearest("\(digits.prefix(1)).\(digits.dropFirst())0e\(Int.random(in: -20...20, using: &generator))")
    }
  }

  @Test("Fuzz: numbers halfway between two Doubles are rounded to even", arguments: 0..<2)
  func ties(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<fuzzRounds(usually: 1000) {
      // An odd integer above 2^53 is halfway between two doubles.
      let odd = UInt64.random(in: 1 << 53...1 << 54, using: &generator) | 1
      for text in ["\(odd)", "\(odd)0e-1", "\(odd).0"] { expectNearest(text) }
      expectNearest("\(odd / 10).\(odd % 10)")
    }
  }
}

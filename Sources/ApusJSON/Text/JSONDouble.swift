/// Conversion of decimal numbers to the nearest `Double`.
enum JSONDouble {
  /// Returns the nearest `Double` of a valid number; infinite if the number is out of range.
  static func value(_ text: UnsafeRawBufferPointer) -> Double {
    var (mantissa, exponent, digits): (UInt64, Int, Int) = (0, 0, 0)
    var index = 0
    let isNegative = text.first == UInt8(ascii: "-")
    if isNegative { index = 1 }
    var isFraction = false
    while index < text.count {
      let digit = text[index] &- UInt8(ascii: "0")
      if digit < 10 {
        mantissa = mantissa &* 10 &+ UInt64(digit)
        if digits > 0 || digit > 0 { digits += 1 }
        if isFraction { exponent -= 1 }
      } else if text[index] == UInt8(ascii: ".") {
        isFraction = true
      } else {
        guard let written = power(text, from: index + 1) else { return slowValue(text) }
        exponent += written
        break
      }
      index += 1
    }
    guard digits <= 19, let magnitude = value(mantissa, timesTenTo: exponent) else { return slowValue(text) }
    return isNegative ? -magnitude : magnitude
  }

  /// Returns the exponent of a number, or `nil` if the exponent has more than three digits.
  private static func power(_ text: UnsafeRawBufferPointer, from start: Int) -> Int? {
    var (index, power) = (start, 0)
    let sign = text[index]
    if sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { index += 1 }
    guard text.count - index <= 3 else { return nil }
    while index < text.count {
      power = power * 10 + Int(text[index] &- UInt8(ascii: "0"))
      index += 1
    }
    return sign == UInt8(ascii: "-") ? -power : power
  }

  /// Returns the nearest `Double` of an integer times a power of ten, or `nil` if that needs more than 128 bits.
  private static func value(_ mantissa: UInt64, timesTenTo exponent: Int) -> Double? {
    if exponent == 0 || mantissa == 0 { return Double(mantissa) }
    guard exponent.magnitude <= 22 else { return nil }
    if mantissa <= 1 << 53 {
      // Both operands are exact, so a single operation rounds correctly.
      let power = powers[Int(exponent.magnitude)]
      return exponent < 0 ? Double(mantissa) / power : Double(mantissa) * power
    }
    guard exponent.magnitude <= 19 else { return nil }
    let power = integerPowers[Int(exponent.magnitude)]
    if exponent > 0 {
      let (high, low) = mantissa.multipliedFullWidth(by: power)
      return Double(UInt128(high) << 64 | UInt128(low))
    }
    // The quotient of two numbers with their highest bits set has 64 or 65 bits. The lowest bit is set if there is a
    // remainder, to distinguish a tie from a number just above it.
    let (shift, powerShift) = (mantissa.leadingZeroBitCount, power.leadingZeroBitCount)
    let numerator = UInt128(mantissa << UInt64(shift)) << 63
    let (quotient, remainder) = (power << UInt64(powerShift)).dividingFullWidth(
      (UInt64(truncatingIfNeeded: numerator >> 64), UInt64(truncatingIfNeeded: numerator)))
    let significand = Double(quotient | (remainder > 0 ? 1 : 0))
    return Double(sign: .plus, exponent: powerShift - shift - 63, significand: significand)
  }

  /// Converts with the standard library.
  private static func slowValue(_ text: UnsafeRawBufferPointer) -> Double {
    Double(String(decoding: text, as: UTF8.self)) ?? .infinity
  }

  private static let powers: [Double] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
  ]
  private static let integerPowers: [UInt64] = powers.prefix(20).map { UInt64($0) }
}

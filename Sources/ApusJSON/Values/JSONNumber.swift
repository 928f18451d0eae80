/// A JSON number (RFC 8259 §6), exactly as written.
///
/// ``description`` is the text with all its digits. The accessors convert the text.
///
/// Numbers with the same value are equal: `1`, `1.0` and `10e-1`, as well as `0` and `-0`. Numbers with an exponent of
/// more than 17 digits are equal only if their texts are equal.
public struct JSONNumber: Sendable, CustomStringConvertible {
  /// The number as written.
  public let description: String

  /// Creates a number from a text that is known to be valid.
  init(valid text: String) {
    description = text
  }

  /// Creates a number from a text. Returns `nil` if the text is not a JSON number.
  public init?(_ text: String) {
    var text = text
    let isNumber = text.withUTF8 { bytes in
      guard let tape = try? TapeParser.parse(UnsafeRawBufferPointer(bytes), limits: JSONLimits()) else { return false }
      let word = tape[JSONTape.root]
      return word.isNumber && word.length == bytes.count
    }
    guard isNumber else { return nil }
    self.init(valid: text)
  }

  /// Creates a number from an integer.
  public init(_ value: some BinaryInteger) {
    self.init(valid: String(value))
  }

  /// Creates a number with the fewest digits that represent the value. Returns `nil` for infinity and NaN.
  public init?(_ value: Double) {
    guard value.isFinite else { return nil }
    let isWritableAsInteger =
      value.magnitude < 0x1p53 && value.rounded() == value && (value != 0 || value.sign == .plus)
    self.init(valid: isWritableAsInteger ? String(Int64(value)) : value.description)
  }

  /// The value as an `Int`, or `nil` if it is out of range or not an integer. `1e2` and `1.0` are integers.
  public var int: Int? { DecimalForm(description).integer() }
  /// The value as an `Int64`, or `nil` if it is out of range or not an integer.
  package var int64: Int64? { DecimalForm(description).integer() }
  /// The value as a `UInt64`, or `nil` if it is out of range or not an integer.
  package var uint64: UInt64? { DecimalForm(description).integer() }
  /// The nearest `Double`; infinite if the number is out of range.
  public var double: Double { Double(description) ?? .infinity }
}

extension JSONNumber: Hashable {
  /// Returns whether two numbers have the same value.
  public static func == (one: JSONNumber, other: JSONNumber) -> Bool {
    if one.description == other.description { return true }
    let (one, other) = (DecimalForm(one.description), DecimalForm(other.description))
    return one.exponent != nil && one == other
  }

  /// Hashes the value.
  public func hash(into hasher: inout Hasher) {
    let form = DecimalForm(description)
    guard let exponent = form.exponent else { return hasher.combine(description) }
    hasher.combine(form.isNegative)
    hasher.combine(form.digits)
    hasher.combine(exponent)
  }
}

extension JSONNumber: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral {
  /// Creates a number from an integer literal.
  public init(integerLiteral value: Int64) {
    self.init(value)
  }

  /// Creates a number from a literal, clamped to the finite range of `Double`.
  public init(floatLiteral value: Double) {
    let greatest = Double.greatestFiniteMagnitude
    self.init(valid: (JSONNumber(max(-greatest, min(value, greatest))) ?? 0).description)
  }
}

/// A number as digits and a power of ten, in a form that is unique for each value.
struct DecimalForm: Equatable {
  let isNegative: Bool
  /// The digits, without leading and trailing zeros; empty for zero.
  let digits: [UInt8]
  /// The power of ten by which the digits, as an integer, are multiplied; `nil` if it has more than 17 digits.
  let exponent: Int?

  /// - Parameter text: a valid number.
  init(_ text: String) {
    var digits: [UInt8] = []
    var (fraction, written) = (0, 0)
    var (isFraction, isExponent, isNegativeExponent) = (false, false, false)
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"):
        let digit = byte - UInt8(ascii: "0")
        if isExponent {
          written = min(written * 10 + Int(digit), Self.beyond)
        } else {
          if isFraction { fraction += 1 }
          if digit > 0 || !digits.isEmpty { digits.append(digit) }
        }
      case UInt8(ascii: "."): isFraction = true
      case UInt8(ascii: "e"), UInt8(ascii: "E"): isExponent = true
      case UInt8(ascii: "-") where isExponent: isNegativeExponent = true
      default: break
      }
    }
    var zeros = 0
    while digits.last == 0 {
      digits.removeLast()
      zeros += 1
    }
    self.digits = digits
    isNegative = !digits.isEmpty && text.utf8.first == UInt8(ascii: "-")
    let power = (isNegativeExponent ? -written : written) - fraction + zeros
    exponent = digits.isEmpty ? 0 : written < Self.beyond ? power : nil
  }

  private static let beyond = 100_000_000_000_000_000

  /// Returns the value if it is an integer in the range of the type.
  func integer<Integer: FixedWidthInteger>() -> Integer? {
    // A 64-bit integer has at most 20 digits, and a 128-bit integer has at most 39 digits.
    let greatest = (Integer.bitWidth * 3 + 9) / 10
    guard let exponent, exponent >= 0, exponent <= greatest, digits.count <= greatest else { return nil }
    var result: Integer = 0
    for digit in digits + Array(repeating: 0, count: exponent) {
      let (scaled, isTooLarge) = result.multipliedReportingOverflow(by: 10)
      let digit = Integer(digit)
      let (sum, isBeyond) =
        isNegative ? scaled.subtractingReportingOverflow(digit) : scaled.addingReportingOverflow(digit)
      guard !isTooLarge, !isBeyond else { return nil }
      result = sum
    }
    return result
  }
}

extension JSONReader {
  mutating func bool() throws -> Bool {
    cursor.skipWhitespace()
    let start = cursor.offset
    guard cursor.byte(start) == UInt8(ascii: "t") || cursor.byte(start) == UInt8(ascii: "f") else {
      throw mismatch(Bool.self)
    }
    return try cursor.literal() == .true
  }

  mutating func string() throws -> String {
    cursor.skipWhitespace()
    guard cursor.byte(cursor.offset) == UInt8(ascii: "\"") else { throw mismatch(String.self) }
    let (start, isEscaped, _) = try cursor.string()
    let text = UnsafeRawBufferPointer(start: cursor.text + start, count: cursor.offset - 1 - start)
    return isEscaped ? JSONEscape.string(text) : String(decoding: text, as: UTF8.self)
  }

  mutating func int() throws -> Int {
    cursor.skipWhitespace()
    if let value = shortInteger() { return value }
    return try otherInteger(Int.self)
  }

  mutating func integer<T: FixedWidthInteger>(_ type: T.Type) throws -> T {
    cursor.skipWhitespace()
    let start = cursor.offset
    if let short = shortInteger() {
      guard let value = T(exactly: short) else { throw JSONReadError(.unrepresentable(type), at: start) }
      return value
    }
    return try otherInteger(type)
  }

  /// Reads an integer of at most 18 digits. Returns `nil` and reads nothing if the next value is not such an integer.
  @inline(__always) private mutating func shortInteger() -> Int? {
    var (offset, value) = (cursor.offset, 0)
    let isNegative = cursor.byte(offset) == UInt8(ascii: "-")
    if isNegative { offset += 1 }
    let start = offset
    while true {
      let digit = cursor.byte(offset) &- UInt8(ascii: "0")
      guard digit < 10 else { break }
      value = value &* 10 &+ Int(digit)
      offset += 1
    }
    let count = offset - start
    guard count > 0, count <= 18, count == 1 || cursor.byte(start) != UInt8(ascii: "0") else { return nil }
    switch cursor.byte(offset) {
    case UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]"), 0x20, 0x0A, 0x0D, 0x09: break
    default: guard offset == cursor.count else { return nil }
    }
    cursor.offset = offset
    return isNegative ? -value : value
  }

  private mutating func otherInteger<T: FixedWidthInteger>(_ type: T.Type) throws -> T {
    let text = try number(type)
    guard let value: T = DecimalForm(String(decoding: text.bytes, as: UTF8.self)).integer() else {
      throw JSONReadError(.unrepresentable(type), at: text.start)
    }
    return value
  }

  /// Whether the next value is a number.
  @inline(__always) func isAtNumber() -> Bool {
    let byte = cursor.byte(cursor.offset)
    return byte == UInt8(ascii: "-") || byte &- UInt8(ascii: "0") < 10
  }

  private mutating func number(_ type: Any.Type) throws -> (start: Int, bytes: UnsafeRawBufferPointer) {
    guard isAtNumber() else { throw mismatch(type) }
    let (start, _) = try cursor.number()
    return (start, UnsafeRawBufferPointer(start: cursor.text + start, count: cursor.offset - start))
  }

  mutating func double() throws -> Double {
    cursor.skipWhitespace()
    guard isAtNumber() else { return try nonFinite(Double.self) }
    let text = try number(Double.self)
    let value = JSONDouble.value(text.bytes)
    guard value.isFinite else { throw JSONReadError(.unrepresentable(Double.self), at: text.start) }
    return value
  }

  mutating func float() throws -> Float {
    cursor.skipWhitespace()
    guard isAtNumber() else { return Float(try nonFinite(Float.self)) }
    let text = try number(Float.self)
    guard let value = Float(String(decoding: text.bytes, as: UTF8.self)), value.isFinite else {
      throw JSONReadError(.unrepresentable(Float.self), at: text.start)
    }
    return value
  }

  mutating func jsonNumber() throws -> JSONNumber {
    cursor.skipWhitespace()
    return JSONNumber(valid: String(decoding: try number(JSONNumber.self).bytes, as: UTF8.self))
  }

  private mutating func nonFinite(_ type: Any.Type) throws -> Double {
    let start = cursor.offset
    guard cursor.byte(start) == UInt8(ascii: "\""), let value = coding.nonFinite(try string()) else {
      throw JSONReadError(.mismatch(type), at: start)
    }
    return value
  }
}

/// A cursor over the tokens of a JSON text (RFC 8259 §2, §6, §7). The cursor ignores nesting and takes linear time.
///
/// The text is a copy that ends with ``padding`` zero bytes. No token contains a zero byte, so every token ends at the
/// padding at the latest, and eight bytes can be read from any offset.
struct JSONCursor {
  /// The number of zero bytes after the text.
  static let padding = 16

  let text: UnsafeRawPointer
  private let bytes: UnsafePointer<UInt8>
  let count: Int
  /// The offset of the next byte.
  var offset = 0

  /// - Parameters:
  ///   - text: the padded text, which must outlive the cursor.
  ///   - count: the number of bytes before the padding.
  init(text: UnsafeRawPointer, count: Int) {
    (self.text, self.count) = (text, count)
    bytes = text.assumingMemoryBound(to: UInt8.self)
    if count >= 3, byte(0) == 0xEF, byte(1) == 0xBB, byte(2) == 0xBF { offset = 3 }
  }

  /// Returns a padded copy of a text, which the caller deallocates.
  static func copy(_ bytes: UnsafeRawBufferPointer) -> UnsafeMutableRawPointer {
    let copy = UnsafeMutableRawPointer.allocate(byteCount: bytes.count + padding, alignment: 8)
    if let start = bytes.baseAddress { copy.copyMemory(from: start, byteCount: bytes.count) }
    copy.advanced(by: bytes.count).initializeMemory(as: UInt8.self, repeating: 0, count: padding)
    return copy
  }

  // MARK: Bytes

  @inline(__always) func byte(_ offset: Int) -> UInt8 { bytes[offset] }

  /// Returns eight bytes, with the first byte in the lowest bits.
  @inline(__always) func load(_ offset: Int) -> UInt64 {
    UInt64(littleEndian: text.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  @inline(__always) mutating func skipWhitespace() {
    if byte(offset) > 0x20 { return }
    skipLongWhitespace()
  }

  @inline(never) private mutating func skipLongWhitespace() {
    while true {
      switch byte(offset) {
      case 0x20 where load(offset) == 0x2020_2020_2020_2020: offset += 8
      case 0x20, 0x0A, 0x0D, 0x09: offset += 1
      default: return
      }
    }
  }

  func error(_ reason: JSONError.Reason) -> JSONError { JSONError(reason, at: offset) }

  /// The error for a next byte that is not permitted here.
  var unexpected: JSONError { error(offset >= count ? .unexpectedEnd : .unexpectedByte) }

  /// Whether an error arose because the text is in UTF-16 or UTF-32, which §8.1 excludes.
  func isOtherEncoding(_ error: JSONError) -> Bool {
    guard error.reason == .unexpectedByte, count >= 2 else { return false }
    let mark = UInt16(byte(0)) << 8 | UInt16(byte(1))
    return byte(0) == 0 || byte(1) == 0 || mark == 0xFEFF || mark == 0xFFFE
  }

  // MARK: Strings

  /// Reads a string. Returns the offset after its opening quotation mark, and whether the string has escapes and is
  /// ASCII.
  @inline(__always) mutating func string() throws(JSONError) -> (start: Int, isEscaped: Bool, isASCII: Bool) {
    let start = offset + 1
    var end = start
    while true {
      let special = Self.specialBytes(load(end))
      if special != 0 {
        end += special.trailingZeroBitCount >> 3
        break
      }
      end += 8
    }
    offset = end
    if byte(end) == UInt8(ascii: "\"") {
      offset = end + 1
      return (start, false, true)
    }
    let rest = try restOfString()
    return (start, rest.isEscaped, rest.isASCII)
  }

  /// Marks the high bit of every quotation mark, backslash, control character and byte outside ASCII. Further bytes
  /// after the first marked byte may be marked wrongly.
  @inline(__always) private static func specialBytes(_ bytes: UInt64) -> UInt64 {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let quotes = bytes ^ (ones &* 0x22)
    let escapes = bytes ^ (ones &* 0x5C)
    return ((bytes &- ones &* 0x20) | (quotes &- ones) | (escapes &- ones) | bytes) & (ones &* 0x80)
  }

  /// Reads the rest of a string, from the first byte that is an escape, not ASCII, or an error.
  private mutating func restOfString() throws(JSONError) -> (isEscaped: Bool, isASCII: Bool) {
    var (isEscaped, isASCII) = (false, true)
    while true {
      switch byte(offset) {
      case UInt8(ascii: "\""):
        offset += 1
        return (isEscaped, isASCII)
      case UInt8(ascii: "\\"):
        isEscaped = true
        try escape()
      case let byte where byte >= 0x80:
        isASCII = false
        try multibyteScalar()
      case let byte where byte < 0x20: throw error(offset >= count ? .unexpectedEnd : .controlCharacter)
      default:
        let special = Self.specialBytes(load(offset))
        offset += special == 0 ? 8 : max(1, special.trailingZeroBitCount >> 3)
      }
    }
  }

  /// Skips a multi-byte scalar (RFC 3629 §4).
  private mutating func multibyteScalar() throws(JSONError) {
    let (length, second): (Int, ClosedRange<UInt8>)
    switch byte(offset) {
    case 0xC2...0xDF: (length, second) = (2, 0x80...0xBF)
    case 0xE0: (length, second) = (3, 0xA0...0xBF)
    case 0xED: (length, second) = (3, 0x80...0x9F)
    case 0xE1...0xEF: (length, second) = (3, 0x80...0xBF)
    case 0xF0: (length, second) = (4, 0x90...0xBF)
    case 0xF1...0xF3: (length, second) = (4, 0x80...0xBF)
    case 0xF4: (length, second) = (4, 0x80...0x8F)
    default: throw error(.invalidUTF8)
    }
    // A truncated scalar ends at the padding.
    guard second.contains(byte(offset + 1)), length < 3 || byte(offset + 2) & 0xC0 == 0x80,
      length < 4 || byte(offset + 3) & 0xC0 == 0x80
    else { throw error(.invalidUTF8) }
    offset += length
  }

  /// Skips an escape; a surrogate pair counts as one escape.
  private mutating func escape() throws(JSONError) {
    let start = offset
    offset += 2
    switch byte(start + 1) {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
      UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      return
    case UInt8(ascii: "u"): break
    default: throw escapeError(start)
    }
    let unit = try codeUnit(start)
    guard unit & 0xF800 == 0xD800 else { return }
    guard unit < 0xDC00, byte(offset) == UInt8(ascii: "\\"), byte(offset + 1) == UInt8(ascii: "u") else {
      throw JSONError(.loneSurrogate, at: start)
    }
    offset += 2
    guard try codeUnit(start) & 0xFC00 == 0xDC00 else { throw JSONError(.loneSurrogate, at: start) }
  }

  /// Skips the four digits of a `\u` escape.
  private mutating func codeUnit(_ start: Int) throws(JSONError) -> UInt32 {
    guard let unit = JSONEscape.codeUnit(text + offset) else { throw escapeError(start) }
    offset += 4
    return unit
  }

  private func escapeError(_ start: Int) -> JSONError {
    // Handles an escape that is truncated by the end of the text.
    var end = start + 1
    while end < count, end < start + 6, byte(end) != UInt8(ascii: "\"") { end += 1 }
    return end == count ? JSONError(.unexpectedEnd, at: count) : JSONError(.malformedEscape, at: start)
  }

  /// Checks a long name for combining marks. Comparing and hashing normalize a name, which sorts its combining marks in
  /// quadratic time.
  func checkMarks(_ start: Int, _ length: Int) throws(JSONError) {
    var marks = 0
    let name = JSONEscape.string(UnsafeRawBufferPointer(start: text + start, count: length))
    for scalar in name.unicodeScalars {
      guard scalar.value >= 0x300 else {
        marks = 0
        continue
      }
      switch scalar.properties.generalCategory {
      case .nonspacingMark, .spacingMark, .enclosingMark: marks += 1
      default: marks = 0
      }
      if marks > 128 { throw JSONError(.tooManyCombiningMarks, at: start - 1) }
    }
  }

  // MARK: Numbers and literals

  /// Reads a number. Returns the offset of its first byte, and whether it has neither fraction nor exponent.
  @inline(__always) mutating func number() throws(JSONError) -> (start: Int, isInteger: Bool) {
    let start = offset
    var isInteger = true
    if byte(offset) == UInt8(ascii: "-") { offset += 1 }
    if byte(offset) == UInt8(ascii: "0") { offset += 1 } else { try digits() }
    if byte(offset) == UInt8(ascii: ".") {
      isInteger = false
      offset += 1
      try digits()
    }
    if byte(offset) | 0x20 == UInt8(ascii: "e") {
      isInteger = false
      offset += 1
      if byte(offset) == UInt8(ascii: "+") || byte(offset) == UInt8(ascii: "-") { offset += 1 }
      try digits()
    }
    // `01`, `1.2.3` and `1x` are malformed numbers, not numbers followed by something else.
    guard isAtEndOfValue else { throw error(.malformedNumber) }
    return (start, isInteger)
  }

  /// Whether the next byte may follow a value.
  @inline(__always) var isAtEndOfValue: Bool {
    switch byte(offset) {
    case UInt8(ascii: ","), UInt8(ascii: "]"), UInt8(ascii: "}"), 0x20, 0x0A, 0x0D, 0x09: true
    default: offset == count
    }
  }

  @inline(__always) private mutating func digits() throws(JSONError) {
    let start = offset
    while byte(offset) &- UInt8(ascii: "0") < 10 { offset += 1 }
    if offset == start { throw error(offset >= count ? .unexpectedEnd : .malformedNumber) }
  }

  /// Reads `null`, `false` or `true`.
  mutating func literal() throws(JSONError) -> JSONLiteral {
    switch byte(offset) {
    case UInt8(ascii: "t"): try skip("true", .true)
    case UInt8(ascii: "f"): try skip("false", .false)
    case UInt8(ascii: "n"): try skip("null", .null)
    default: throw unexpected
    }
  }

  private mutating func skip(_ text: StaticString, _ literal: JSONLiteral) throws(JSONError) -> JSONLiteral {
    for index in 0..<text.utf8CodeUnitCount {
      guard byte(offset) == text.utf8Start[index] else { throw unexpected }
      offset += 1
    }
    return literal
  }
}

/// A literal value of JSON.
enum JSONLiteral: Int {
  case null, `false`, `true`
}

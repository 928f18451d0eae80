/// A scanner of JSON tokens (RFC 8259 §2, §6, §7). It ignores nesting and takes linear time.
struct JSONScanner {
  typealias Bytes = UnsafeBufferPointer<UInt8>

  private let bytes: Bytes
  private(set) var offset = 0

  init(_ bytes: Bytes) {
    self.bytes = bytes
  }

  /// The next byte, or `nil` at the end.
  var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }

  func error(_ reason: JSONError.Reason) -> JSONError { JSONError(reason, at: offset) }

  /// The error for a next byte that is not allowed here.
  var unexpected: JSONError { error(next == nil ? .unexpectedEnd : .unexpectedByte) }

  /// Skips the next byte.
  mutating func advance() { offset += 1 }

  mutating func take(_ byte: UInt8) -> Bool {
    guard next == byte else { return false }
    offset += 1
    return true
  }

  /// Skips a byte order mark, which §8.1 allows parsers to ignore.
  mutating func skipByteOrderMark() {
    if bytes.count >= 3, bytes[0] == 0xEF, bytes[1] == 0xBB, bytes[2] == 0xBF { offset = 3 }
  }

  mutating func skipWhitespace() {
    while offset < bytes.count {
      let byte = bytes[offset]
      guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return }
      offset += 1
    }
  }

  /// Skips a literal.
  mutating func literal(_ text: StaticString) throws(JSONError) {
    for index in 0..<text.utf8CodeUnitCount {
      guard take(text.utf8Start[index]) else { throw unexpected }
    }
  }

  // MARK: Numbers

  /// Skips a number.
  mutating func skipNumber() throws(JSONError) {
    _ = take(UInt8(ascii: "-"))
    if !take(UInt8(ascii: "0")) { try skipDigits() }
    if take(UInt8(ascii: ".")) { try skipDigits() }
    if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
      if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
      try skipDigits()
    }
    // `01`, `1.2.3` and `1x` are malformed numbers, not numbers followed by something else.
    switch next {
    case nil, UInt8(ascii: ","), UInt8(ascii: "]"), UInt8(ascii: "}"), 0x20, 0x0A, 0x0D, 0x09: return
    default: throw error(.malformedNumber)
    }
  }

  /// Reads a number.
  mutating func number() throws(JSONError) -> JSONNumber {
    let start = offset
    try skipNumber()
    return JSONNumber(valid: text(from: start))
  }

  private mutating func skipDigits() throws(JSONError) {
    let start = offset
    while let byte = next, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { offset += 1 }
    if offset == start { throw next == nil ? error(.unexpectedEnd) : error(.malformedNumber) }
  }

  // MARK: Strings

  /// Skips a string and validates it.
  mutating func skipString() throws(JSONError) {
    advance()
    try skipRest()
  }

  /// Skips the rest of a string.
  private mutating func skipRest() throws(JSONError) {
    while true {
      try skipPlain()
      if take(UInt8(ascii: "\"")) { return }
      _ = try escaped()
    }
  }

  /// Reads a string.
  mutating func string() throws(JSONError) -> String {
    var end = self
    end.advance()
    try end.skipPlain()
    if end.next == UInt8(ascii: "\"") {
      advance()
      defer { offset = end.offset + 1 }
      return end.text(from: offset)
    }
    // A string with escapes is validated first and then allocated once: an escape is never shorter than its text.
    try end.skipRest()
    return String(unsafeUninitializedCapacity: end.offset - offset) { unescape(into: $0) }
  }

  /// Unescapes a string that is known to be valid. Returns the number of bytes written.
  private mutating func unescape(into buffer: UnsafeMutableBufferPointer<UInt8>) -> Int {
    var count = 0
    advance()
    while let byte = next, byte != UInt8(ascii: "\"") {
      if byte == UInt8(ascii: "\\") {
        for byte in ((try? escaped()) ?? "?").utf8 {
          buffer[count] = byte
          count += 1
        }
      } else {
        buffer[count] = byte
        count += 1
        advance()
      }
    }
    advance()
    return count
  }

  private func text(from start: Int) -> String {
    String(decoding: Bytes(rebasing: bytes[start..<offset]), as: UTF8.self)
  }

  /// Skips bytes of a string up to a quotation mark or a backslash.
  private mutating func skipPlain() throws(JSONError) {
    while offset < bytes.count {
      let byte = bytes[offset]
      if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return }
      if byte < 0x20 { throw error(.controlCharacter) }
      if byte < 0x80 { offset += 1 } else { try skipScalar(byte) }
    }
    throw error(.unexpectedEnd)
  }

  /// Skips a multi-byte scalar (RFC 3629 §4).
  private mutating func skipScalar(_ first: UInt8) throws(JSONError) {
    let (count, second): (Int, ClosedRange<UInt8>)
    switch first {
    case 0xC2...0xDF: (count, second) = (2, 0x80...0xBF)
    case 0xE0: (count, second) = (3, 0xA0...0xBF)
    case 0xED: (count, second) = (3, 0x80...0x9F)
    case 0xE1...0xEF: (count, second) = (3, 0x80...0xBF)
    case 0xF0: (count, second) = (4, 0x90...0xBF)
    case 0xF1...0xF3: (count, second) = (4, 0x80...0xBF)
    case 0xF4: (count, second) = (4, 0x80...0x8F)
    default: throw error(.invalidUTF8)
    }
    guard bytes.count - offset >= count, second.contains(bytes[offset + 1]),
      count < 3 || bytes[offset + 2] & 0xC0 == 0x80, count < 4 || bytes[offset + 3] & 0xC0 == 0x80
    else { throw error(.invalidUTF8) }
    offset += count
  }

  /// Reads an escape; a surrogate pair counts as one.
  private mutating func escaped() throws(JSONError) -> Unicode.Scalar {
    let start = offset
    advance()
    guard let letter = next else { throw error(.unexpectedEnd) }
    advance()
    switch letter {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(letter)
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): break
    default: throw JSONError(.malformedEscape, at: start)
    }
    let unit = try codeUnit(start)
    if let scalar = Unicode.Scalar(unit) { return scalar }
    guard unit < 0xDC00, take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else {
      throw JSONError(.loneSurrogate, at: start)
    }
    let low = try codeUnit(start)
    guard low >= 0xDC00, low <= 0xDFFF, let scalar = Unicode.Scalar(0x10000 + (unit & 0x3FF) << 10 + low & 0x3FF)
    else { throw JSONError(.loneSurrogate, at: start) }
    return scalar
  }

  /// Reads the four digits of a `\u` escape.
  private mutating func codeUnit(_ start: Int) throws(JSONError) -> UInt32 {
    var unit: UInt32 = 0
    for _ in 0..<4 {
      guard let byte = next else { throw error(.unexpectedEnd) }
      let digit: UInt8
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
      case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
      case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
      default: throw JSONError(.malformedEscape, at: start)
      }
      unit = unit << 4 | UInt32(digit)
      advance()
    }
    return unit
  }
}

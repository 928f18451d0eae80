/// The byte classes of HTTP's grammar (RFC 9110 §5.6), as 128 bits in two words: no table in memory.
enum Octet {
  static let tab = UInt8(ascii: "\t")
  static let lineFeed = UInt8(ascii: "\n")
  static let carriageReturn = UInt8(ascii: "\r")
  static let space = UInt8(ascii: " ")
  static let comma = UInt8(ascii: ",")
  static let colon = UInt8(ascii: ":")

  /// Whether the byte may be part of a token (RFC 9110 §5.6.2).
  @inline(__always)
  static func isToken(_ byte: UInt8) -> Bool {
    let bits: UInt64 = byte < 64 ? 0x03FF_6CFA_0000_0000 : byte < 128 ? 0x57FF_FFFF_C7FF_FFFE : 0
    return bits >> UInt64(byte & 63) & 1 == 1
  }

  /// Whether the byte is a space or a tab: optional white space (RFC 9110 §5.6.3).
  @inline(__always)
  static func isBlank(_ byte: UInt8) -> Bool { byte == space || byte == tab }

  @inline(__always)
  static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

  /// Returns the value of a hexadecimal digit.
  @inline(__always)
  static func hexadecimalValue(_ byte: UInt8) -> UInt8? {
    if isDigit(byte) { return byte &- UInt8(ascii: "0") }
    let letter = (byte | 0x20) &- UInt8(ascii: "a")
    return letter < 6 ? letter &+ 10 : nil
  }

  /// The classes of text in a field value (RFC 9110 §5.5).
  enum Text {
    /// Visible ASCII, spaces and tabs.
    case ascii
    /// Visible ASCII, spaces, tabs and bytes beyond ASCII.
    case other
    /// Text with at least one control character.
    case forbidden
  }

  /// Classifies text, eight bytes at a time: every field of a response passes through here.
  @inline(__always)
  static func text(_ bytes: UnsafeRawBufferPointer) -> Text {
    let (ones, high): (UInt64, UInt64) = (0x0101_0101_0101_0101, 0x8080_8080_8080_8080)
    var seen: UInt64 = 0
    var index = 0
    while index + 8 <= bytes.count {
      let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      let deletes = word ^ (ones &* 0x7F)
      // Sets the high bit of each byte below 0x20 and of each DEL. A borrow may also set the bit of the next byte, so
      // `isPlain` checks again.
      let suspects = ((word &- ones &* 0x20) & ~word | (deletes &- ones) & ~deletes) & high
      if suspects != 0, !isPlain(bytes, index..<index + 8) { return .forbidden }
      seen |= word
      index += 8
    }
    if index < bytes.count {
      guard isPlain(bytes, index..<bytes.count) else { return .forbidden }
      for position in index..<bytes.count { seen |= UInt64(bytes[position]) }
    }
    return seen & high == 0 ? .ascii : .other
  }

  /// Whether text consists of visible characters, spaces, tabs and bytes beyond ASCII.
  @inline(__always)
  static func isText(_ bytes: UnsafeRawBufferPointer) -> Bool { text(bytes) != .forbidden }

  @inline(__always)
  private static func isPlain(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> Bool {
    for index in range where (bytes[index] < 0x20 && bytes[index] != tab) || bytes[index] == 0x7F { return false }
    return true
  }

  /// Returns the string of bytes that are known to be ASCII or UTF-8.
  @inline(__always)
  static func string(_ bytes: UnsafeRawBufferPointer) -> String {
    String(decoding: bytes.bindMemory(to: UInt8.self), as: UTF8.self)
  }

  /// Returns the bytes without white space at either end.
  @inline(__always)
  static func trimmed(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    var (start, end) = (0, bytes.count)
    while start < end, isBlank(bytes[start]) { start += 1 }
    while end > start, isBlank(bytes[end - 1]) { end -= 1 }
    return UnsafeRawBufferPointer(rebasing: bytes[start..<end])
  }

  /// Whether bytes spell a lower-case ASCII text, ignoring case.
  @inline(__always)
  static func spells(_ bytes: UnsafeRawBufferPointer, _ lowercased: StaticString) -> Bool {
    guard bytes.count == lowercased.utf8CodeUnitCount else { return false }
    let text = lowercased.utf8Start
    for index in 0..<bytes.count where lowercase(bytes[index]) != text[index] { return false }
    return true
  }

  @inline(__always)
  static func lowercase(_ byte: UInt8) -> UInt8 {
    byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte
  }
}

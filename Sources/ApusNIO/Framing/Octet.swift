#if NIO
  /// The kinds of bytes that HTTP's grammar tells apart (RFC 9110 §5.6): 128 bits in two words, no table in memory.
  enum Octet {
    static let tab = UInt8(ascii: "\t")
    static let lineFeed = UInt8(ascii: "\n")
    static let carriageReturn = UInt8(ascii: "\r")
    static let space = UInt8(ascii: " ")
    static let comma = UInt8(ascii: ",")
    static let colon = UInt8(ascii: ":")

    /// Whether a byte may be part of a token (RFC 9110 §5.6.2).
    @inline(__always)
    static func isToken(_ byte: UInt8) -> Bool {
      let bits: UInt64 = byte < 64 ? 0x03FF_6CFA_0000_0000 : byte < 128 ? 0x57FF_FFFF_C7FF_FFFE : 0
      return bits >> UInt64(byte & 63) & 1 == 1
    }

    /// Space and tab: optional white space (RFC 9110 §5.6.3).
    @inline(__always)
    static func isBlank(_ byte: UInt8) -> Bool { byte == space || byte == tab }

    @inline(__always)
    static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

    /// The value of a hexadecimal digit.
    @inline(__always)
    static func hexadecimalValue(_ byte: UInt8) -> UInt8? {
      if isDigit(byte) { return byte &- UInt8(ascii: "0") }
      let letter = (byte | 0x20) &- UInt8(ascii: "a")
      return letter < 6 ? letter &+ 10 : nil
    }

    /// Whether text holds nothing but visible characters, space, tab and bytes beyond ASCII (RFC 9110 §5.5).
    ///
    /// Looks at every byte whatever the ones before were: that way eight or more go at once.
    @inline(__always)
    static func isText(_ bytes: UnsafeRawBufferPointer) -> Bool {
      var isBad = false
      for byte in bytes { isBad = isBad || (byte < 0x20 && byte != tab) || byte == 0x7F }
      return !isBad
    }

    /// Without the blanks at both ends.
    @inline(__always)
    static func trimmed(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
      var (start, end) = (0, bytes.count)
      while start < end, isBlank(bytes[start]) { start += 1 }
      while end > start, isBlank(bytes[end - 1]) { end -= 1 }
      return UnsafeRawBufferPointer(rebasing: bytes[start..<end])
    }

    /// Whether bytes spell lower-case ASCII text, in any case.
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
#endif

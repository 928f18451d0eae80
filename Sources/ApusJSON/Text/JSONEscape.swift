/// The escapes of strings (RFC 8259 §7).
enum JSONEscape {
  /// Returns the code unit of four hexadecimal digits, or `nil` if a byte is not a hexadecimal digit.
  static func codeUnit(_ digits: UnsafeRawPointer) -> UInt32? {
    var unit: UInt32 = 0
    for index in 0..<4 {
      let byte = digits.load(fromByteOffset: index, as: UInt8.self)
      let (digit, letter) = (byte &- UInt8(ascii: "0"), (byte | 0x20) &- UInt8(ascii: "a"))
      guard digit < 10 || letter < 6 else { return nil }
      unit = unit << 4 | UInt32(digit < 10 ? digit : letter + 10)
    }
    return unit
  }

  /// Returns the text of a valid string between its quotation marks. Unescaped text is never longer than its escapes.
  static func string(_ bytes: UnsafeRawBufferPointer) -> String {
    String(unsafeUninitializedCapacity: bytes.count) { unescape(bytes, into: $0) }
  }

  private static func unescape(_ bytes: UnsafeRawBufferPointer, into buffer: UnsafeMutableBufferPointer<UInt8>) -> Int {
    var (index, count) = (0, 0)
    while index < bytes.count {
      var byte = bytes[index]
      index += 1
      if byte == UInt8(ascii: "\\") {
        byte = bytes[index]
        index += 1
        switch byte {
        case UInt8(ascii: "b"): byte = 0x08
        case UInt8(ascii: "f"): byte = 0x0C
        case UInt8(ascii: "n"): byte = 0x0A
        case UInt8(ascii: "r"): byte = 0x0D
        case UInt8(ascii: "t"): byte = 0x09
        case UInt8(ascii: "u"):
          for unit in UTF8.encode(scalar(bytes, &index)) ?? UTF8.encodedReplacementCharacter {
            buffer[count] = unit
            count += 1
          }
          continue
        default: break
        }
      }
      buffer[count] = byte
      count += 1
    }
    return count
  }

  /// Reads the digits after `\u`, and the second escape of a surrogate pair.
  private static func scalar(_ bytes: UnsafeRawBufferPointer, _ index: inout Int) -> Unicode.Scalar {
    func unit() -> UInt32 {
      let digits = UnsafeRawBufferPointer(rebasing: bytes[index..<index + 4])
      index += 4
      return digits.baseAddress.flatMap(codeUnit) ?? 0xFFFD
    }
    let first = unit()
    if let scalar = Unicode.Scalar(first) { return scalar }
    index += 2
    return Unicode.Scalar(0x10000 + (first & 0x3FF) << 10 + unit() & 0x3FF) ?? "\u{FFFD}"
  }
}

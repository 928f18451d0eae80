/// Percent-encoding of URL components (RFC 3986 §2) without Foundation.
package enum PercentEncoding {
  /// The component, which determines the bytes that are not encoded.
  package enum Component {
    /// A value in a path segment or query. Only unreserved characters are not encoded.
    case value
    /// Path text from source code. All characters that RFC 3986 permits in a path remain unchanged, including `%`.
    case pathText
    /// A part of `application/x-www-form-urlencoded` content. Space becomes `+`.
    case form

    var kept: ByteSet {
      switch self {
      case .value: .unreserved
      case .pathText: .pathText
      case .form: .formText
      }
    }
  }

  package static func append(_ text: some StringProtocol, as component: Component, to result: inout String) {
    let kept = component.kept
    guard text.utf8.contains(where: { !kept.contains($0) }) else {
      result.append(contentsOf: text)
      return
    }
    var copy = String(text)
    result += copy.withUTF8 { encoded($0, component) }
  }

  private static func encoded(_ bytes: UnsafeBufferPointer<UInt8>, _ component: Component) -> String {
    let kept = component.kept
    return String(unsafeUninitializedCapacity: bytes.count * 3) { buffer in
      var count = 0
      func put(_ byte: UInt8) {
        buffer[count] = byte
        count += 1
      }
      for byte in bytes {
        if kept.contains(byte) {
          put(byte)
        } else if component == .form, byte == UInt8(ascii: " ") {
          put(UInt8(ascii: "+"))
        } else {
          put(UInt8(ascii: "%"))
          put(hexDigit(byte >> 4))
          put(hexDigit(byte & 15))
        }
      }
      return count
    }
  }

  /// Decodes one level of percent-encoding. Bytes that are not valid UTF-8 become U+FFFD.
  static func decode(_ text: some StringProtocol) -> String {
    guard text.utf8.contains(UInt8(ascii: "%")) else { return String(text) }
    return String(decoding: decode(bytes: text.utf8), as: UTF8.self)
  }

  /// Decodes one level of percent-encoding. A `%` without two hexadecimal digits remains unchanged.
  package static func decode(bytes text: some Sequence<UInt8>) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = Array(text)[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), let high = hexValue(rest.first), let low = hexValue(rest.dropFirst().first) {
        bytes.append(high << 4 | low)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return bytes
  }

  /// Whether every `%` is followed by two hexadecimal digits.
  static func hasValidEscapes(_ text: some StringProtocol) -> Bool {
    var digitsDue = 0
    for byte in text.utf8 {
      if digitsDue > 0 {
        guard hexValue(byte) != nil else { return false }
        digitsDue -= 1
      } else if byte == UInt8(ascii: "%") {
        digitsDue = 2
      }
    }
    return digitsDue == 0
  }

  static func hexValue(_ byte: UInt8?) -> UInt8? {
    switch byte {
    case .some(let byte) where byte.isDigit: byte - UInt8(ascii: "0")
    case .some(let byte) where byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case .some(let byte) where byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }

  /// Returns the hexadecimal digit for a value below 16, in upper case.
  package static func hexDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
  }
}

/// A set of ASCII bytes as 128 bits. Every call looks up bytes, and testing a bit is faster than reading a table.
package struct ByteSet: Sendable {
  /// The bits of the bytes 0 to 63.
  let low: UInt64
  /// The bits of the bytes 64 to 127.
  let high: UInt64

  package func contains(_ byte: UInt8) -> Bool {
    (byte < 64 ? low >> UInt64(byte) : byte < 128 ? high >> UInt64(byte - 64) : 0) & 1 == 1
  }

  /// Letters, digits and `-._~` (RFC 3986 §2.3).
  package static var unreserved: ByteSet { ByteSet(low: 0x03FF_6000_0000_0000, high: 0x47FF_FFFE_87FF_FFFE) }

  /// Unreserved characters and `!$&'()*+,;=:@/%`, which are allowed in a path (RFC 3986 §3.3).
  static var pathText: ByteSet { ByteSet(low: 0x2FFF_FFF2_0000_0000, high: 0x47FF_FFFE_87FF_FFFF) }

  /// ``pathText`` without `%` and `:`, which need further checks.
  static var plainPathText: ByteSet { ByteSet(low: 0x2BFF_FFD2_0000_0000, high: 0x47FF_FFFE_87FF_FFFF) }

  /// Letters, digits and `*-._` (WHATWG URL §5.2).
  static var formText: ByteSet { ByteSet(low: 0x03FF_6400_0000_0000, high: 0x07FF_FFFE_87FF_FFFE) }
}

extension Sequence<UInt8> {
  /// Whether both sequences are equal, ignoring the case of ASCII letters.
  func lowercasedEqual(_ other: some Sequence<UInt8>) -> Bool {
    elementsEqual(other) { $0.asciiLowercased == $1.asciiLowercased }
  }
}

// The classes of ASCII bytes (RFC 5234 appendix B.1). ApusNIO, which reads every byte of a head, has its own classes in
// `Octet`.

extension UInt8 {
  /// The letter in lower case; any other byte unchanged.
  package var asciiLowercased: UInt8 { isCapital ? self | 0x20 : self }

  /// Whether the byte is an ASCII letter in upper case.
  package var isCapital: Bool { self >= UInt8(ascii: "A") && self <= UInt8(ascii: "Z") }

  /// Whether the byte is an ASCII letter.
  package var isLetter: Bool { self | 0x20 >= UInt8(ascii: "a") && self | 0x20 <= UInt8(ascii: "z") }

  /// Whether the byte is an ASCII digit.
  package var isDigit: Bool { self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9") }

  /// Whether the byte is an ASCII letter or digit.
  package var isLetterOrDigit: Bool { isLetter || isDigit }

  /// Whether the byte is a space or a tab: optional white space (RFC 9110 §5.6.3).
  package var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }

  /// Whether the byte is a C0 control or DEL.
  var isControl: Bool { self < 0x20 || self == 0x7F }
}

extension BidirectionalCollection<UInt8> {
  /// The bytes without leading and trailing spaces and tabs.
  package var trimmed: SubSequence {
    guard let last = lastIndex(where: { !$0.isBlank }) else { return self[endIndex...] }
    return self[...last].drop(while: \.isBlank)
  }
}

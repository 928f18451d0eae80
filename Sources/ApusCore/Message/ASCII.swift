extension Sequence<UInt8> {
  /// Whether both are the same but for the case of ASCII letters.
  func lowercasedEqual(_ other: some Sequence<UInt8>) -> Bool {
    elementsEqual(other) { $0.asciiLowercased == $1.asciiLowercased }
  }
}

extension UInt8 {
  var asciiLowercased: UInt8 {
    self >= UInt8(ascii: "A") && self <= UInt8(ascii: "Z") ? self | 0x20 : self
  }

  /// C0 controls and DEL.
  var isControl: Bool { self < 0x20 || self == 0x7F }
}

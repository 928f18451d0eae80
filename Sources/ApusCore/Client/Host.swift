/// Checks a host and brings it into the form that goes on the wire.
enum Host {
  typealias Malformed = BaseURL.Malformed

  /// Lower case; names in other alphabets in their ASCII form; IPv6 addresses in brackets.
  static func normalized(_ host: Substring) throws(Malformed) -> String {
    if host.utf8.first == UInt8(ascii: "[") {
      let address = Substring(host.utf8.dropFirst().dropLast())
      guard IPv6.isValid(address) else { throw Malformed(reason: "its IPv6 address is not one") }
      return "[\(address.lowercased())]"
    }
    guard host.utf8.count <= 1000 else { throw Malformed(reason: "its host is too long") }
    // The full stops of other scripts separate labels too (RFC 3490 §3.1).
    let dotted = String(String.UnicodeScalarView(host.lowercased().unicodeScalars.map(asciiFullStop)))
    // By bytes: with a mark behind it, a full stop would be no character of its own.
    var labels = dotted.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map {
      String(Substring($0))
    }
    let isRooted = labels.last == "" && labels.count > 1
    if isRooted { labels.removeLast() }
    var ascii: [String] = []
    for label in labels { ascii.append(try normalized(label: label)) }
    if let last = ascii.last, isNumber(last), isRooted || !IPv6.isIPv4(dotted) {
      throw Malformed(reason: "its host is neither a name nor an IPv4 address")
    }
    let name = ascii.joined(separator: ".")
    guard name.utf8.count <= 253 else { throw Malformed(reason: "its host is too long") }
    return isRooted ? name + "." : name
  }

  private static func asciiFullStop(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
    switch scalar {
    case "\u{3002}", "\u{FF0E}", "\u{FF61}": "."
    default: scalar
    }
  }

  private static func normalized(label: String) throws(Malformed) -> String {
    guard !label.isEmpty else { throw Malformed(reason: "its host has an empty label") }
    var ascii = label
    if !label.utf8.allSatisfy({ $0 < 0x80 }) {
      guard label.unicodeScalars.allSatisfy(isLetterLike), label.unicodeScalars.first.map(isMark) == false else {
        throw Malformed(reason: "its host holds a character that names cannot have")
      }
      guard let encoded = Punycode.encode(label) else { throw Malformed(reason: "its host cannot be encoded") }
      ascii = "xn--" + encoded
    }
    guard ascii.utf8.count <= 63 else { throw Malformed(reason: "a label of its host is too long") }
    let allowed = ascii.utf8.allSatisfy {
      isDigit($0) || ($0 >= UInt8(ascii: "a") && $0 <= UInt8(ascii: "z")) || $0 == UInt8(ascii: "-")
        || $0 == UInt8(ascii: "_")
    }
    guard allowed, !ascii.hasPrefix("-"), !ascii.hasSuffix("-") else {
      throw Malformed(reason: "its host holds a character that names cannot have")
    }
    return ascii
  }

  /// Letters, digits and marks that stand for nothing but themselves.
  ///
  /// What looks like or is composed to something else, for example a full-width letter or a mark that
  /// could be one character with the letter before it, would name another host than people read.
  private static func isLetterLike(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII { return true }
    let properties = scalar.properties
    // Sharp s and final sigma are letters of their own in names (RFC 5892 §2.6), whatever case folding does.
    if properties.changesWhenNFKCCaseFolded, scalar != "\u{DF}", scalar != "\u{3C2}" { return false }
    switch scalar.value {
    // Combining accents, hamzas and voicing marks, and the parts of Hangul syllables.
    case 0x0300...0x036F, 0x0653...0x0655, 0x3099...0x309A, 0x1100...0x11FF, 0xA960...0xA97F, 0xD7B0...0xD7FF:
      return false
    default: break
    }
    switch properties.generalCategory {
    case .lowercaseLetter, .otherLetter, .modifierLetter, .nonspacingMark, .spacingMark, .decimalNumber: return true
    default: return false
    }
  }

  private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .spacingMark: true
    default: false
    }
  }

  /// Whether resolvers would take a name with this last label for a number: decimal, octal or hexadecimal.
  private static func isNumber(_ label: String) -> Bool {
    if label.utf8.allSatisfy(isDigit) { return true }
    return label.hasPrefix("0x") && label.utf8.dropFirst(2).allSatisfy { PercentEncoding.hexValue($0) != nil }
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
  }
}

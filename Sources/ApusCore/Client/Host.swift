/// Checks a host and brings it into the form that goes on the wire.
enum Host {
  typealias Malformed = BaseURL.Malformed

  /// Lower case; names in other alphabets in their ASCII form; IPv6 addresses in brackets.
  static func normalized(_ host: Substring) throws(Malformed) -> String {
    if host.hasPrefix("[") {
      let address = host.dropFirst().dropLast()
      guard IPv6.isValid(address) else { throw Malformed(reason: "its IPv6 address is not one") }
      return "[\(address.lowercased())]"
    }
    // The full stops of other scripts separate labels too (RFC 3490 §3.1).
    let dotted = host.lowercased().map { "。．｡".contains($0) ? "." : String($0) }.joined()
    var labels = dotted.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    let isRooted = labels.last == "" && labels.count > 1
    if isRooted { labels.removeLast() }
    var ascii: [String] = []
    for label in labels { ascii.append(try normalized(label: label)) }
    if let last = ascii.last, last.utf8.allSatisfy(isDigit), !isIPv4(ascii) {
      throw Malformed(reason: "its host is neither a name nor an IPv4 address")
    }
    let name = ascii.joined(separator: ".") + (isRooted ? "." : "")
    guard name.utf8.count <= 254 else { throw Malformed(reason: "its host is too long") }
    return name
  }

  private static func normalized(label: String) throws(Malformed) -> String {
    guard !label.isEmpty else { throw Malformed(reason: "its host has an empty label") }
    var ascii = label
    if !label.utf8.allSatisfy({ $0 < 0x80 }) {
      guard label.unicodeScalars.allSatisfy(isLetterLike) else {
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

  /// Letters, digits and marks in their composed form: a mark that could be composed with the letter
  /// before it would name another host than the composed letter does.
  private static func isLetterLike(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII { return true }
    guard !(0x0300...0x036F).contains(scalar.value) else { return false }
    switch scalar.properties.generalCategory {
    case .lowercaseLetter, .otherLetter, .modifierLetter, .nonspacingMark, .spacingMark, .decimalNumber: return true
    default: return false
    }
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
  }

  /// Four decimal numbers without leading zeros: octal, hexadecimal and short forms are refused.
  private static func isIPv4(_ labels: [String]) -> Bool {
    labels.count == 4
      && labels.allSatisfy { label in
        label.utf8.allSatisfy(isDigit) && label.utf8.count <= 3 && (Int(label).map { $0 <= 255 } ?? false)
          && (label == "0" || !label.hasPrefix("0"))
      }
  }
}

/// Validation and normalization of hosts.
enum Host {
  /// Returns the host as it is sent: in lower case, internationalized names in ASCII, IPv6 addresses in brackets.
  static func normalized(_ host: Substring) throws(BaseURL.ParseError) -> String {
    if host.utf8.first == UInt8(ascii: "[") {
      let address = Substring(host.utf8.dropFirst().dropLast())
      guard IPv6.isValid(address) else { throw BaseURL.ParseError(reason: "its IPv6 address is not valid") }
      return "[\(address.lowercased())]"
    }
    guard host.utf8.count <= 1000 else { throw BaseURL.ParseError(reason: "its host is too long") }
    // The full stops of other scripts also separate labels (RFC 3490 §3.1).
    let dotted = String(String.UnicodeScalarView(host.lowercased().unicodeScalars.map(asciiFullStop)))
    // Split by bytes, because a full stop followed by a combining mark is not a `Character` of its own.
    var labels = dotted.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map {
      String(Substring($0))
    }
    let isRooted = labels.last == "" && labels.count > 1
    if isRooted { labels.removeLast() }
    var ascii: [String] = []
    for label in labels { ascii.append(try normalized(label: label)) }
    if let last = ascii.last, isNumber(last), isRooted || !IPv6.isIPv4(dotted) {
      throw BaseURL.ParseError(reason: "its host is neither a name nor an IPv4 address")
    }
    let name = ascii.joined(separator: ".")
    guard name.utf8.count <= 253 else { throw BaseURL.ParseError(reason: "its host is too long") }
    return isRooted ? name + "." : name
  }

  private static func asciiFullStop(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
    switch scalar {
    case "\u{3002}", "\u{FF0E}", "\u{FF61}": "."
    default: scalar
    }
  }

  private static func normalized(label: String) throws(BaseURL.ParseError) -> String {
    guard !label.isEmpty else { throw BaseURL.ParseError(reason: "its host has an empty label") }
    var ascii = label
    if !label.utf8.allSatisfy({ $0 < 0x80 }) {
      guard label.unicodeScalars.allSatisfy(isLetterLike), label.unicodeScalars.first.map(isMark) == false else {
        throw BaseURL.ParseError(reason: "its host contains a character that is not allowed in names")
      }
      guard let encoded = Punycode.encode(label) else { throw BaseURL.ParseError(reason: "its host cannot be encoded") }
      ascii = "xn--" + encoded
    }
    guard ascii.utf8.count <= 63 else { throw BaseURL.ParseError(reason: "a label of its host is too long") }
    let allowed = ascii.utf8.allSatisfy {
      $0.isDigit || ($0 >= UInt8(ascii: "a") && $0 <= UInt8(ascii: "z")) || $0 == UInt8(ascii: "-")
        || $0 == UInt8(ascii: "_")
    }
    guard allowed, !ascii.hasPrefix("-"), !ascii.hasSuffix("-") else {
      throw BaseURL.ParseError(reason: "its host contains a character that is not allowed in names")
    }
    return ascii
  }

  /// Whether a scalar is a letter, digit or mark that normalization does not change.
  ///
  /// Other scalars, for example a full-width letter or an accent that composes with the letter before it, would make
  /// the host differ from the name that people read.
  private static func isLetterLike(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII { return true }
    let properties = scalar.properties
    // Sharp s and final sigma are valid in names (RFC 5892 §2.6), although case folding changes them.
    if properties.changesWhenNFKCCaseFolded, scalar != "\u{DF}", scalar != "\u{3C2}" { return false }
    switch scalar.value {
    // Combining accents, hamzas, voicing marks and Hangul jamo.
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

  /// Whether resolvers would read a name with this last label as a decimal, octal or hexadecimal number.
  private static func isNumber(_ label: String) -> Bool {
    if label.utf8.allSatisfy(\.isDigit) { return true }
    return label.hasPrefix("0x") && label.utf8.dropFirst(2).allSatisfy { PercentEncoding.hexValue($0) != nil }
  }
}

/// The grammar of IPv6 addresses (RFC 4291 §2.2).
enum IPv6 {
  static func isValid(_ text: some StringProtocol) -> Bool {
    let halves = text.split(separator: "::", omittingEmptySubsequences: false)
    switch halves.count {
    case 1: return groups(halves[0], mayEndInIPv4: true) == 8
    case 2:
      guard let first = groups(halves[0], mayEndInIPv4: false), let second = groups(halves[1], mayEndInIPv4: true)
      else { return false }
      return first + second <= 7
    default: return false
    }
  }

  /// Returns the number of 16-bit groups in a text, or `nil` if it is not a list of groups.
  private static func groups(_ text: some StringProtocol, mayEndInIPv4: Bool) -> Int? {
    guard !text.isEmpty else { return 0 }
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    var count = 0
    for (index, part) in parts.enumerated() {
      if mayEndInIPv4, index == parts.count - 1, part.utf8.contains(UInt8(ascii: ".")) {
        guard isIPv4(part) else { return nil }
        count += 2
      } else {
        guard (1...4).contains(part.utf8.count), part.utf8.allSatisfy({ PercentEncoding.hexValue($0) != nil }) else {
          return nil
        }
        count += 1
      }
    }
    return count
  }

  /// Whether a text consists of four decimal numbers without leading zeros. Octal, hexadecimal and short forms are
  /// invalid.
  static func isIPv4(_ text: some StringProtocol) -> Bool {
    let numbers = text.split(separator: ".", omittingEmptySubsequences: false)
    return numbers.count == 4
      && numbers.allSatisfy { number in
        (1...3).contains(number.utf8.count)
          && number.utf8.allSatisfy { $0.isDigit }
          && (Int(number).map { $0 <= 255 } ?? false) && (number == "0" || !number.hasPrefix("0"))
      }
  }
}

/// The ASCII encoding of internationalized host labels (RFC 3492).
enum Punycode {
  private static let base = 36
  private static let tMin = 1
  private static let tMax = 26
  private static let skew = 38
  private static let damp = 700

  /// Returns the encoded label without `xn--`, or `nil` on overflow.
  static func encode(_ label: String) -> String? {
    let scalars = label.unicodeScalars.map { Int($0.value) }
    var output = label.unicodeScalars.filter(\.isASCII).map(Character.init)
    let basicCount = output.count
    if basicCount > 0 { output.append("-") }
    var (code, delta, bias, handled) = (128, 0, 72, basicCount)
    while handled < scalars.count {
      guard let next = scalars.filter({ $0 >= code }).min() else { return nil }
      let (step, overflow) = (next - code).multipliedReportingOverflow(by: handled + 1)
      guard !overflow else { return nil }
      delta += step
      code = next
      for scalar in scalars {
        if scalar < code { delta += 1 }
        guard scalar == code else { continue }
        output += digits(of: delta, bias: bias)
        bias = adapt(delta, count: handled + 1, isFirst: handled == basicCount)
        delta = 0
        handled += 1
      }
      delta += 1
      code += 1
    }
    return String(output)
  }

  private static func digits(of delta: Int, bias: Int) -> [Character] {
    var result: [Character] = []
    var (quotient, position) = (delta, base)
    while true {
      let threshold = position <= bias ? tMin : position >= bias + tMax ? tMax : position - bias
      if quotient < threshold { break }
      result.append(digit(threshold + (quotient - threshold) % (base - threshold)))
      quotient = (quotient - threshold) / (base - threshold)
      position += base
    }
    result.append(digit(quotient))
    return result
  }

  private static func digit(_ value: Int) -> Character {
    Character(Unicode.Scalar(UInt8(value < 26 ? value + 97 : value - 26 + 48)))
  }

  private static func adapt(_ delta: Int, count: Int, isFirst: Bool) -> Int {
    var delta = isFirst ? delta / damp : delta / 2
    delta += delta / count
    var bias = 0
    while delta > (base - tMin) * tMax / 2 {
      delta /= base - tMin
      bias += base
    }
    return bias + (base - tMin + 1) * delta / (delta + skew)
  }
}

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

  /// How many 16-bit groups the text stands for; `nil` when it is not a list of groups.
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

  /// Four decimal numbers without leading zeros: octal, hexadecimal and short forms are refused.
  static func isIPv4(_ text: some StringProtocol) -> Bool {
    let numbers = text.split(separator: ".", omittingEmptySubsequences: false)
    return numbers.count == 4
      && numbers.allSatisfy { number in
        (1...3).contains(number.utf8.count)
          && number.utf8.allSatisfy { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
          && (Int(number).map { $0 <= 255 } ?? false) && (number == "0" || !number.hasPrefix("0"))
      }
  }
}

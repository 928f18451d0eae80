import Crypto

/// Hexadecimal digits.
enum Hexadecimal {
  static func text(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  /// Returns the first bytes of the SHA-256 hash of a list of strings. Different lists have different hashes.
  static func hash(of texts: [String], bytes count: Int) -> String {
    // Different lists have different input, because each string is prefixed with its length.
    let all = texts.map { "\($0.utf8.count):\($0)" }.joined()
    return text(SHA256.hash(data: Array(all.utf8)).prefix(count))
  }

  /// Returns the bytes, or `nil` if the text has other characters or an odd number of digits.
  static func bytes(of text: String) -> [UInt8]? {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let first = rest.popFirst() {
      guard let high = digit(first), let low = rest.popFirst().flatMap({ digit($0) }) else { return nil }
      bytes.append(high << 4 | low)
    }
    return bytes
  }

  /// Returns the value of a digit.
  static func digit(_ character: UInt8) -> UInt8? {
    switch character {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}

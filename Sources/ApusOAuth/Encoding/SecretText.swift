/// Random secret strings, and their comparison.
enum SecretText {
  /// Returns 256 random bits as 43 characters: a state, a nonce, or a code verifier (RFC 7636 §4.1).
  ///
  /// - Parameter random: returns 64 random bits.
  static func make(_ random: () -> UInt64) -> String {
    Base64URL.encode((0..<4).flatMap { _ in withUnsafeBytes(of: random()) { Array($0) } })
  }

  /// Whether two strings are equal. The comparison takes the same time wherever the strings differ.
  static func areEqual(_ one: String, _ other: String) -> Bool {
    let (one, other) = (Array(one.utf8), Array(other.utf8))
    guard one.count == other.count else { return false }
    return zip(one, other).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }
}

import Crypto
import Foundation

/// Proof Key for Code Exchange with S256 (RFC 7636): the client that exchanges a code must know the verifier
/// behind the challenge of the sign-in.
enum CodeVerifier {
  /// Whether a text has the form of a challenge: 32 bytes in base64url without padding.
  static func isChallenge(_ text: String) -> Bool { text.utf8.count == 43 && text.utf8.allSatisfy(isUnreserved) }

  /// Whether a verifier has the required form (RFC 7636 §4.1) and belongs to a challenge.
  static func matches(_ verifier: String, challenge: String) -> Bool {
    guard (43...128).contains(verifier.utf8.count), verifier.utf8.allSatisfy(isUnreserved) else { return false }
    return Base64URL.text(SHA256.hash(data: Data(verifier.utf8))) == challenge
  }

  private static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
      UInt8(ascii: "~"):
      true
    default: false
    }
  }
}

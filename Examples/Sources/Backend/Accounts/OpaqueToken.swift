import Crypto
import Foundation

/// A token that means nothing to anybody but this server: 256 random bits.
struct OpaqueToken: Sendable {
  let text: String

  static func random() -> OpaqueToken {
    let text = Data(SecureRandom.bytes(32)).base64EncodedString()
    // The alphabet for URLs and fields (RFC 4648, section 5), without padding.
    return OpaqueToken(
      text: text.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: ""))
  }

  /// What is stored. Random tokens need no salt.
  var hash: Data { Data(SHA256.hash(data: Data(text.utf8))) }
}

import Crypto
import Foundation

/// The response to a sign-in or a refresh (RFC 6749 §5.1).
struct Tokens: Encodable, Sendable {
  let accessToken: String
  let refreshToken: String
  /// The lifetime in seconds, with fractions; `nil` omits it from the response.
  let expiresIn: Double?
  let tokenType = "Bearer"
}

/// The lifetimes of tokens, and whether responses contain the lifetime of access tokens.
struct TokenLifetimes: Sendable {
  let access: Duration
  let refresh: Duration
  let isSent: Bool
}

/// The sender of a request: an account and one of its sessions.
struct Principal: Sendable {
  let account: Account
  let session: Int64
}

/// An opaque token of 256 random bits.
struct OpaqueToken: Sendable {
  let text: String

  static func random() -> OpaqueToken { OpaqueToken(text: Base64URL.text(SecureRandom.bytes(32))) }

  /// The hash to store. Random tokens need no salt.
  var hash: Data { Data(SHA256.hash(data: Data(text.utf8))) }
}

/// Base64url without padding (RFC 4648 §5).
enum Base64URL {
  static func text(_ bytes: some Sequence<UInt8>) -> String {
    Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
  }
}

/// Random bytes for salts and tokens, from the system's secure generator.
enum SecureRandom {
  static func bytes(_ count: Int) -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
  }
}

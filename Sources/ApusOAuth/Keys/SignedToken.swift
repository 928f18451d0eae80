import ApusJSON
import Crypto

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A signed token in the compact form (RFC 7515 §3.1), parsed but not verified.
struct SignedToken {
  /// The maximum length in bytes.
  static let limit = 64 << 10

  /// The algorithm; `nil` if it is not supported.
  let algorithm: SignatureAlgorithm?
  let keyID: String?
  let claims: JSONValue
  let message: Data
  let signature: Data

  /// Parses a token. Returns `nil` if the text has another form, or requires an extension (`crit`, RFC 7515 §4.1.11).
  init?(_ text: String) {
    guard text.utf8.count <= Self.limit else { return nil }
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let header = Self.object(parts[0]), let claims = Self.object(parts[1]),
      let signature = Base64URL.decode(parts[2]), header["crit"] == nil, header["b64"] == nil
    else { return nil }
    algorithm = header["alg"]?.string.flatMap { SignatureAlgorithm(rawValue: $0) }
    keyID = header.text("kid")
    self.claims = claims
    self.signature = signature
    message = Data("\(parts[0]).\(parts[1])".utf8)
  }

  private static func object(_ part: Substring) -> JSONValue? {
    guard let bytes = Base64URL.decode(part),
      let json = try? JSONValue(parsing: bytes, limits: JSONLimits(depth: 32, bytes: limit)), json.object != nil
    else { return nil }
    return json
  }

  /// Signs a token with ES256.
  static func signed(header: JSONValue, claims: JSONValue, by key: P256.Signing.PrivateKey) throws -> String {
    let text = "\(Base64URL.encode(header.utf8())).\(Base64URL.encode(claims.utf8()))"
    return "\(text).\(Base64URL.encode(try key.signature(for: Data(text.utf8)).rawRepresentation))"
  }
}

import ApusJSON
import ApusMiddleware
import Crypto

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The private key to which tokens are bound, and its proofs of possession (RFC 9449).
struct ProofKey: Sendable {
  /// The message for which a proof is made.
  struct Use {
    let method: String
    /// The URL without query and fragment.
    let url: String
    /// The time of the proof.
    let date: Date
    /// A unique text.
    let id: String
    /// The server's latest nonce; `nil` if the server has sent none.
    let nonce: String?
    /// The access token in the message; `nil` if the message contains no access token.
    var accessToken: String?
  }

  /// The algorithm of the proofs.
  static let algorithm = SignatureAlgorithm.es256

  /// The prefix of the stored form of a key to which only the refresh token is bound.
  private static let refreshOnly = "refresh:"

  private let key: P256.Signing.PrivateKey
  /// Whether the access token is bound to the key. `false`: only the refresh token is bound (RFC 9449 §5).
  var bindsAccess = true

  /// Creates a key.
  init() {
    key = P256.Signing.PrivateKey()
  }

  /// Reads a stored key. Returns `nil` if the text is not a key.
  init?(_ stored: Secret) {
    bindsAccess = Self.bindsAccess(stored)
    guard let bytes = Base64URL.decode(stored.value.dropFirst(bindsAccess ? 0 : Self.refreshOnly.utf8.count)),
      let key = try? P256.Signing.PrivateKey(rawRepresentation: bytes)
    else { return nil }
    self.key = key
  }

  /// The stored form.
  var secret: Secret { Secret((bindsAccess ? "" : Self.refreshOnly) + Base64URL.encode(key.rawRepresentation)) }

  /// Whether an access token is bound to a stored key.
  static func bindsAccess(_ stored: Secret) -> Bool { !stored.value.utf8.starts(with: refreshOnly.utf8) }

  /// The thumbprint of the public key (RFC 7638), sent as `dpop_jkt`.
  var thumbprint: String {
    let (x, y) = coordinates
    return Base64URL.encode(SHA256.hash(data: Data(#"{"crv":"P-256","kty":"EC","x":"\#(x)","y":"\#(y)"}"#.utf8)))
  }

  private var coordinates: (x: String, y: String) {
    let bytes = key.publicKey.rawRepresentation
    return (Base64URL.encode(bytes.prefix(32)), Base64URL.encode(bytes.suffix(32)))
  }

  /// Returns a proof (RFC 9449 §4.2).
  func proof(for use: Use) throws -> String {
    let (x, y) = coordinates
    var claims: [String: JSONValue] = [
      "jti": .string(use.id), "htm": .string(use.method), "htu": .string(use.url),
      "iat": .number(JSONNumber(Int64(use.date.timeIntervalSince1970))),
    ]
    if let nonce = use.nonce { claims["nonce"] = .string(nonce) }
    if let token = use.accessToken {
      claims["ath"] = .string(Base64URL.encode(SHA256.hash(data: Data(token.utf8))))
    }
    let header: JSONValue = [
      "typ": "dpop+jwt", "alg": .string(Self.algorithm.rawValue),
      "jwk": ["kty": "EC", "crv": "P-256", "x": .string(x), "y": .string(y)],
    ]
    return try SignedToken.signed(header: header, claims: .object(claims), by: key)
  }
}

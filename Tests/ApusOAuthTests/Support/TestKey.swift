#if OAuth
import ApusJSON
import Crypto
import CryptoExtras
import Foundation

@testable import ApusOAuth

/// A key of an issuer, with which tests sign ID tokens.
struct TestKey: Sendable {
  enum Kind: Sendable {
    case p256(P256.Signing.PrivateKey)
    case rsa(_RSA.Signing.PrivateKey, isPSS: Bool)
    case ed25519(Curve25519.Signing.PrivateKey)
  }

  let kind: Kind
  var id: String?

  init(id: String?) {
    (kind, self.id) = (.p256(P256.Signing.PrivateKey()), id)
  }

  init(_ kind: Kind, id: String?) {
    (self.kind, self.id) = (kind, id)
  }

  /// Making one takes long.
  static let rsaKey = Result { try _RSA.Signing.PrivateKey(keySize: .bits2048) }

  static func all() throws -> [(SignatureAlgorithm, TestKey)] {
    [
      (.es256, TestKey(id: "k")), (.rs256, TestKey(.rsa(try rsaKey.get(), isPSS: false), id: "k")),
      (.ps256, TestKey(.rsa(try rsaKey.get(), isPSS: true), id: "k")),
      (.edDSA, TestKey(.ed25519(Curve25519.Signing.PrivateKey()), id: "k")),
    ]
  }

  var algorithm: SignatureAlgorithm {
    switch kind {
    case .p256: .es256
    case .rsa(_, let isPSS): isPSS ? .ps256 : .rs256
    case .ed25519: .edDSA
    }
  }

  /// The public key.
  var json: JSONValue {
    var members: [String: JSONValue] = ["use": "sig"]
    if let id { members["kid"] = .string(id) }
    switch kind {
    case .p256(let key):
      let bytes = key.publicKey.rawRepresentation
      members["kty"] = "EC"
      members["crv"] = "P-256"
      members["x"] = .string(Base64URL.encode(bytes.prefix(32)))
      members["y"] = .string(Base64URL.encode(bytes.suffix(32)))
    case .rsa(let key, _):
      members["kty"] = "RSA"
      if let primitives = try? key.publicKey.getKeyPrimitives() {
        members["n"] = .string(Base64URL.encode(primitives.modulus))
        members["e"] = .string(Base64URL.encode(primitives.publicExponent))
      }
    case .ed25519(let key):
      members["kty"] = "OKP"
      members["crv"] = "Ed25519"
      members["x"] = .string(Base64URL.encode(key.publicKey.rawRepresentation))
    }
    return .object(members)
  }

  func signature(of message: Data) throws -> Data {
    switch kind {
    case .p256(let key): try key.signature(for: message).rawRepresentation
    case .rsa(let key, let isPSS):
      try key.signature(for: message, padding: isPSS ? .PSS : .insecurePKCS1v1_5).rawRepresentation
    case .ed25519(let key): try key.signature(for: message)
    }
  }

  /// A signed token with any header and claims.
  func token(header: [String: JSONValue], claims: [String: JSONValue]) throws -> String {
    let parts = [header, claims].map { Base64URL.encode(JSONValue.object($0).utf8()) }.joined(separator: ".")
    return "\(parts).\(Base64URL.encode(try signature(of: Data(parts.utf8))))"
  }

  /// The claims of a good token.
  static func claims(access: String = "access", nonce: String? = "nonce", now: Date = FakeIssuer.now) -> [String:
    JSONValue]
  {
    let seconds = Int64(now.timeIntervalSince1970)
    var claims: [String: JSONValue] = [
      "iss": .string(FakeIssuer.issuer), "sub": "user-1", "aud": "app", "email": "ada@example.com",
      "iat": .number(JSONNumber(seconds)), "exp": .number(JSONNumber(seconds + 300)),
    ]
    if let nonce { claims["nonce"] = .string(nonce) }
    return claims
  }

  func idToken(access: String, nonce: String?, changing: [String: JSONValue?] = [:]) -> String {
    var claims = Self.claims(access: access, nonce: nonce)
    claims["at_hash"] = .string(IDTokenRules.hash(of: access, algorithm))
    for (name, value) in changing { claims[name] = value }
    var header: [String: JSONValue] = ["alg": .string(algorithm.rawValue), "typ": "JWT"]
    if let id { header["kid"] = .string(id) }
    return (try? token(header: header, claims: claims)) ?? ""
  }
}
#endif

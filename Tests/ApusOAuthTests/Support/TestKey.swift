import ApusJSON
import Crypto
import CryptoExtras
import Foundation

@testable import ApusOAuth

/// A key of an issuer that signs ID tokens in tests.
struct TestKey: Sendable {
  enum Kind: Sendable {
    case p256(P256.Signing.PrivateKey)
    case p384(P384.Signing.PrivateKey)
    case p521(P521.Signing.PrivateKey)
    case rsa(_RSA.Signing.PrivateKey, SignatureAlgorithm)
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

  /// Shared by tests, because creating an RSA key takes long.
  static let rsaKey = Result { try _RSA.Signing.PrivateKey(keySize: .bits2048) }

  /// Returns a new key for each algorithm; the RSA algorithms share one key.
  static func all() throws -> [(SignatureAlgorithm, TestKey)] {
    let rsa = try rsaKey.get()
    let kinds: [Kind] =
      [
        .p256(P256.Signing.PrivateKey()), .p384(P384.Signing.PrivateKey()), .p521(P521.Signing.PrivateKey()),
        .ed25519(Curve25519.Signing.PrivateKey()),
      ] + [.rs256, .rs384, .rs512, .ps256, .ps384, .ps512].map { .rsa(rsa, $0) }
    return kinds.map { TestKey($0, id: "k") }.map { ($0.algorithm, $0) }
  }

  var algorithm: SignatureAlgorithm {
    switch kind {
    case .p256: .es256
    case .p384: .es384
    case .p521: .es512
    case .rsa(_, let algorithm): algorithm
    case .ed25519: .edDSA
    }
  }

  /// The public key.
  var json: JSONValue {
    var members: [String: JSONValue] =
      switch kind {
      case .p256(let key): Self.point("P-256", key.publicKey.rawRepresentation)
      case .p384(let key): Self.point("P-384", key.publicKey.rawRepresentation)
      case .p521(let key): Self.point("P-521", key.publicKey.rawRepresentation)
      case .rsa(let key, _): Self.modulus(key.publicKey)
      case .ed25519(let key):
        ["kty": "OKP", "crv": "Ed25519", "x": .string(Base64URL.encode(key.publicKey.rawRepresentation))]
      }
    members["use"] = "sig"
    if let id { members["kid"] = .string(id) }
    return .object(members)
  }

  private static func point(_ curve: String, _ bytes: Data) -> [String: JSONValue] {
    let length = bytes.count / 2
    return [
      "kty": "EC", "crv": .string(curve), "x": .string(Base64URL.encode(bytes.prefix(length))),
      "y": .string(Base64URL.encode(bytes.suffix(length))),
    ]
  }

  private static func modulus(_ key: _RSA.Signing.PublicKey) -> [String: JSONValue] {
    guard let primitives = try? key.getKeyPrimitives() else { return [:] }
    return [
      "kty": "RSA", "n": .string(Base64URL.encode(primitives.modulus)),
      "e": .string(Base64URL.encode(primitives.publicExponent)),
    ]
  }

  func signature(of message: Data) throws -> Data {
    switch kind {
    case .p256(let key): try key.signature(for: message).rawRepresentation
    case .p384(let key): try key.signature(for: message).rawRepresentation
    case .p521(let key): try key.signature(for: message).rawRepresentation
    case .rsa(let key, let algorithm): try Self.signature(of: message, key, algorithm)
    case .ed25519(let key): try key.signature(for: message)
    }
  }

  private static func signature(
    of message: Data, _ key: _RSA.Signing.PrivateKey, _ algorithm: SignatureAlgorithm
  ) throws -> Data {
    let padding: _RSA.Signing.Padding = algorithm.rawValue.hasPrefix("PS") ? .PSS : .insecurePKCS1v1_5
    return switch algorithm.rawValue.suffix(3) {
    case "384": try key.signature(for: SHA384.hash(data: message), padding: padding).rawRepresentation
    case "512": try key.signature(for: SHA512.hash(data: message), padding: padding).rawRepresentation
    default: try key.signature(for: SHA256.hash(data: message), padding: padding).rawRepresentation
    }
  }

  /// Returns a signed token with the given header and claims.
  func token(header: [String: JSONValue], claims: [String: JSONValue]) throws -> String {
    let parts = [header, claims].map { Base64URL.encode(JSONValue.object($0).utf8()) }.joined(separator: ".")
    return "\(parts).\(Base64URL.encode(try signature(of: Data(parts.utf8))))"
  }

  /// Returns the claims of a valid token.
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

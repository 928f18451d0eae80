import ApusJSON
import Crypto
import CryptoExtras

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A public key of a server, with which signatures are verified (RFC 7517).
struct JSONWebKey: Sendable {
  /// The maximum length of an RSA modulus in bytes, because a longer modulus would take seconds of processor time.
  private static let maximumModulusLength = 1024

  private let key: any VerifyingKey
  /// The key ID; `nil` if the key has none.
  let id: String?
  /// The only algorithm for which the key may be used; `nil`: any matching algorithm.
  private let algorithm: String?

  /// Reads a key. Returns `nil` if it has another purpose, an unsupported type, or is malformed.
  init?(_ json: JSONValue) {
    if let use = json.text("use"), use != "sig" { return nil }
    if let uses = json["key_ops"]?.array, !uses.contains("verify") { return nil }
    guard let key = Self.key(json) else { return nil }
    self.key = key
    id = json.text("kid")
    algorithm = json.text("alg")
  }

  private static func key(_ json: JSONValue) -> (any VerifyingKey)? {
    func bytes(_ name: String) -> Data? { json[name]?.string.flatMap { Base64URL.decode($0) } }
    func point<Key: CurveKey>(_ type: Key.Type) -> Key? {
      let length = type.coordinateLength
      guard let x = bytes("x"), let y = bytes("y"), x.count == length, y.count == length else { return nil }
      return try? Key(rawRepresentation: x + y)
    }
    switch (json["kty"]?.string, json["crv"]?.string) {
    case ("RSA", _):
      guard let modulus = bytes("n"), let exponent = bytes("e"), modulus.count <= maximumModulusLength,
        exponent.count <= 8,
        let key = try? _RSA.Signing.PublicKey(n: modulus, e: exponent), key.keySizeInBits >= 2048
      else { return nil }
      return key
    case ("EC", "P-256"): return point(P256.Signing.PublicKey.self)
    case ("EC", "P-384"): return point(P384.Signing.PublicKey.self)
    case ("EC", "P-521"): return point(P521.Signing.PublicKey.self)
    case ("OKP", "Ed25519"): return bytes("x").flatMap { try? Curve25519.Signing.PublicKey(rawRepresentation: $0) }
    default: return nil
    }
  }

  /// Whether the key may verify signatures of an algorithm.
  func fits(_ algorithm: SignatureAlgorithm) -> Bool {
    if let only = self.algorithm, only != algorithm.rawValue { return false }
    return key.type == algorithm.keyType
  }

  /// Whether a signature with a matching algorithm is valid.
  func verifies(_ signature: Data, of message: Data, _ algorithm: SignatureAlgorithm) -> Bool {
    fits(algorithm) && key.verifies(signature, of: message, algorithm)
  }
}

extension JSONWebKey {
  /// The maximum number of keys that are read from a set.
  private static let maximumCount = 100

  /// Reads the keys of a set (RFC 7517 §5). Skips unusable keys. Returns `nil` if the JSON is not a set.
  static func all(in json: JSONValue) -> [JSONWebKey]? {
    json["keys"]?.array.map { $0.prefix(maximumCount).compactMap { JSONWebKey($0) } }
  }
}

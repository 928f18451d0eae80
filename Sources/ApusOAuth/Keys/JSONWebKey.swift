#if OAuth
import ApusJSON
import Crypto
import CryptoExtras

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A public key of a server that verifies signatures (RFC 7517).
struct JSONWebKey: Sendable {
  private enum Kind: Sendable {
    case rsa(_RSA.Signing.PublicKey)
    case p256(P256.Signing.PublicKey)
    case ed25519(Curve25519.Signing.PublicKey)
  }

  /// The maximum length of an RSA modulus in bytes: longer ones cost seconds.
  private static let longestModulus = 1024

  private let kind: Kind
  /// The name of the key; `nil`: it has none.
  let id: String?
  /// The only algorithm for which the key may be used; `nil`: any that fits.
  private let algorithm: String?

  /// Reads a key; `nil`: it is for something else, of another type, or malformed.
  init?(_ json: JSONValue) {
    if let use = json["use"]?.string, use != "sig" { return nil }
    if let uses = json["key_ops"]?.array, !uses.contains("verify") { return nil }
    guard let kind = Self.kind(json) else { return nil }
    self.kind = kind
    id = json["kid"]?.string
    algorithm = json["alg"]?.string
  }

  private static func kind(_ json: JSONValue) -> Kind? {
    func bytes(_ name: String) -> Data? { json[name]?.string.flatMap { Base64URL.decode($0) } }
    switch (json["kty"]?.string, json["crv"]?.string) {
    case ("RSA", _):
      guard let modulus = bytes("n"), let exponent = bytes("e"), modulus.count <= longestModulus, exponent.count <= 8,
        let key = try? _RSA.Signing.PublicKey(n: modulus, e: exponent), key.keySizeInBits >= 2048
      else { return nil }
      return .rsa(key)
    case ("EC", "P-256"):
      guard let x = bytes("x"), let y = bytes("y"), x.count == 32, y.count == 32 else { return nil }
      return (try? P256.Signing.PublicKey(rawRepresentation: x + y)).map { .p256($0) }
    case ("OKP", "Ed25519"):
      guard let x = bytes("x") else { return nil }
      return (try? Curve25519.Signing.PublicKey(rawRepresentation: x)).map { .ed25519($0) }
    default: return nil
    }
  }

  /// Whether the key may verify signatures of an algorithm.
  func fits(_ algorithm: SignatureAlgorithm) -> Bool {
    if let only = self.algorithm, only != algorithm.rawValue { return false }
    return switch (kind, algorithm) {
    case (.rsa, .rs256), (.rsa, .ps256), (.p256, .es256), (.ed25519, .edDSA): true
    default: false
    }
  }

  /// Whether a signature of an algorithm that fits is valid.
  func verifies(_ signature: Data, of message: Data, _ algorithm: SignatureAlgorithm) -> Bool {
    guard fits(algorithm) else { return false }
    switch kind {
    case .rsa(let key):
      let signature = _RSA.Signing.RSASignature(rawRepresentation: signature)
      let padding: _RSA.Signing.Padding = algorithm == .ps256 ? .PSS : .insecurePKCS1v1_5
      return key.isValidSignature(signature, for: message, padding: padding)
    case .p256(let key):
      guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature) else { return false }
      return key.isValidSignature(signature, for: message)
    case .ed25519(let key): return key.isValidSignature(signature, for: message)
    }
  }
}

extension JSONWebKey {
  /// The maximum number of keys of a set that are read.
  private static let maximumCount = 100

  /// Reads the keys of a set (RFC 7517 §5). Those that cannot be used are left out; `nil`: it is no set.
  static func all(in json: JSONValue) -> [JSONWebKey]? {
    json["keys"]?.array.map { $0.prefix(maximumCount).compactMap { JSONWebKey($0) } }
  }
}
#endif

import Crypto

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The supported signature algorithms (RFC 7518 §3.1, RFC 8037 §3.1).
///
/// `none` and algorithms with a shared secret are not supported, and each algorithm belongs to one type of key: a
/// server's public key can never be used as a shared secret.
enum SignatureAlgorithm: String, Hashable, Sendable, CaseIterable {
  case rs256 = "RS256"
  case rs384 = "RS384"
  case rs512 = "RS512"
  case ps256 = "PS256"
  case ps384 = "PS384"
  case ps512 = "PS512"
  case es256 = "ES256"
  case es384 = "ES384"
  case es512 = "ES512"
  case edDSA = "EdDSA"

  /// The type of a public key.
  enum KeyType: Hashable, Sendable {
    case rsa, p256, p384, p521, ed25519
  }

  /// The type of the keys, and the hash function.
  private var parts: (key: KeyType, hash: any HashFunction.Type) {
    switch self {
    case .rs256, .ps256: (.rsa, SHA256.self)
    case .rs384, .ps384: (.rsa, SHA384.self)
    case .rs512, .ps512: (.rsa, SHA512.self)
    case .es256: (.p256, SHA256.self)
    case .es384: (.p384, SHA384.self)
    case .es512: (.p521, SHA512.self)
    case .edDSA: (.ed25519, SHA512.self)
    }
  }

  /// The type of the keys that verify signatures of this algorithm.
  var keyType: KeyType { parts.key }

  /// Whether an RSA signature is padded with PSS, not with PKCS #1 version 1.5.
  var isPSS: Bool { self == .ps256 || self == .ps384 || self == .ps512 }

  /// Returns the hash of a message.
  func hash(of message: Data) -> any Digest {
    func hash<Function: HashFunction>(_ function: Function.Type) -> any Digest { function.hash(data: message) }
    return hash(parts.hash)
  }
}

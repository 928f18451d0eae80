import Crypto
import CryptoExtras

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A public key of one type.
protocol VerifyingKey: Sendable {
  var type: SignatureAlgorithm.KeyType { get }
  /// Whether a signature is valid. The algorithm must belong to keys of this type.
  func verifies(_ signature: Data, of message: Data, _ algorithm: SignatureAlgorithm) -> Bool
}

/// A public key on a NIST curve. Each curve belongs to one algorithm (RFC 7518 §3.4), whose hash function the key type
/// applies itself.
protocol CurveKey: VerifyingKey {
  /// The length of a coordinate in bytes.
  static var coordinateLength: Int { get }
  init(rawRepresentation: Data) throws
}

extension _RSA.Signing.PublicKey: VerifyingKey {
  var type: SignatureAlgorithm.KeyType { .rsa }

  func verifies(_ signature: Data, of message: Data, _ algorithm: SignatureAlgorithm) -> Bool {
    let signature = _RSA.Signing.RSASignature(rawRepresentation: signature)
    let padding: _RSA.Signing.Padding = algorithm.isPSS ? .PSS : .insecurePKCS1v1_5
    return isValidSignature(signature, for: algorithm.hash(of: message), padding: padding)
  }
}

extension P256.Signing.PublicKey: CurveKey {
  static var coordinateLength: Int { 32 }
  var type: SignatureAlgorithm.KeyType { .p256 }

  func verifies(_ signature: Data, of message: Data, _ algorithm: SignatureAlgorithm) -> Bool {
    (try? P256.Signing.ECDSASignature(rawRepresentation: signature)).map { isValidSignature($0, for: message) } ?? false
  }
}

extension P384.Signing.PublicKey: CurveKey {
  static var coordinateLength: Int { 48 }
  var type: SignatureAlgorithm.KeyType { .p384 }

  func verifies(_ signature: Data, of message: Data, _ algorithm: SignatureAlgorithm) -> Bool {
    (try? P384.Signing.ECDSASignature(rawRepresentation: signature)).map { isValidSignature($0, for: message) } ?? false
  }
}

extension P521.Signing.PublicKey: CurveKey {
  static var coordinateLength: Int { 66 }
  var type: SignatureAlgorithm.KeyType { .p521 }

  func verifies(_ signature: Data, of message: Data, _ algorithm: SignatureAlgorithm) -> Bool {
    (try? P521.Signing.ECDSASignature(rawRepresentation: signature)).map { isValidSignature($0, for: message) } ?? false
  }
}

extension Curve25519.Signing.PublicKey: VerifyingKey {
  var type: SignatureAlgorithm.KeyType { .ed25519 }

  func verifies(_ signature: Data, of message: Data, _ algorithm: SignatureAlgorithm) -> Bool {
    isValidSignature(signature, for: message)
  }
}

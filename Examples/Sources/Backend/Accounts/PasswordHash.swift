import Crypto
import CryptoExtras
import Foundation

/// A salted password hash, derived with scrypt (RFC 7914).
struct PasswordHash: Equatable, Sendable {
  private static let blockSize = 8
  private static let length = 32

  let rounds: Int
  let salt: Data
  let key: Data

  /// Hashes a password with a new salt.
  ///
  /// - Parameter rounds: scrypt's N, a power of two. Memory and time grow with it.
  init(of password: String, rounds: Int) throws {
    try self.init(of: password, rounds: rounds, salt: Data(SecureRandom.bytes(16)))
  }

  private init(of password: String, rounds: Int, salt: Data) throws {
    self.rounds = rounds
    self.salt = salt
    key = try KDF.Scrypt.deriveKey(
      from: Data(password.utf8), salt: salt, outputByteCount: Self.length, rounds: rounds,
      blockSize: Self.blockSize, parallelism: 1
    ).withUnsafeBytes { Data($0) }
  }

  /// Whether a password has this hash.
  func matches(_ password: String) throws -> Bool {
    let other = try PasswordHash(of: password, rounds: rounds, salt: salt)
    // The comparison takes constant time.
    return other.key.count == key.count && zip(other.key, key).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }
}

extension PasswordHash {
  /// The form in the database. It contains the rounds, so hashes stay valid when the default changes.
  var text: String { "scrypt$\(rounds)$\(salt.base64EncodedString())$\(key.base64EncodedString())" }

  init?(text: String) {
    let parts = text.split(separator: "$", omittingEmptySubsequences: false)
    guard parts.count == 4, parts[0] == "scrypt", let rounds = Int(parts[1]),
      let salt = Data(base64Encoded: String(parts[2])), let key = Data(base64Encoded: String(parts[3]))
    else { return nil }
    self.rounds = rounds
    self.salt = salt
    self.key = key
  }
}

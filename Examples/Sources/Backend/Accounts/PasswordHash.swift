import Crypto
import CryptoExtras
import Foundation

/// A password as it is stored: salted, and stretched with scrypt (RFC 7914).
struct PasswordHash: Equatable, Sendable {
  private static let blockSize = 8
  private static let length = 32

  let rounds: Int
  let salt: Data
  let key: Data

  /// Hashes a password with a salt of its own.
  ///
  /// - Parameter rounds: scrypt's N, a power of two; memory and time grow with it.
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

  /// Whether this is the hash of the password.
  func matches(_ password: String) throws -> Bool {
    let other = try PasswordHash(of: password, rounds: rounds, salt: salt)
    // Takes as long whether the first byte differs or the last.
    return other.key.count == key.count && zip(other.key, key).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }
}

extension PasswordHash {
  /// The form in the database: a later change of rounds leaves older hashes usable.
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

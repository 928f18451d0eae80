#if Credentials
  import ApusMiddleware
  import Crypto

  #if canImport(FoundationEssentials)
    import FoundationEssentials
  #else
    import Foundation
  #endif

  /// A key that is derived from a passphrase: PBKDF2 with HMAC-SHA-256 (RFC 8018 §5.2).
  enum PassphraseKey {
    /// How often a guess has to be hashed.
    static let rounds: UInt32 = 600_000
    /// The most rounds that a file may ask for: more would only keep the processor busy.
    static let mostRounds: UInt32 = 10_000_000
    static let saltLength = 16

    /// The first block of what the standard derives: the key has its length.
    static func derive(from passphrase: Secret, salt: [UInt8], rounds: UInt32) -> SymmetricKey {
      // Keyed once: each round starts from a copy.
      let keyed = HMAC<SHA256>(key: SymmetricKey(data: Array(passphrase.value.utf8)))
      var first = keyed
      let start: [UInt8] = salt + [0, 0, 0, 1]
      first.update(data: start)
      var block = first.finalize()
      var derived = words(of: block)
      var round: UInt32 = 1
      while round < rounds {
        var next = keyed
        block.withUnsafeBytes { next.update(data: $0) }
        block = next.finalize()
        derived ^= words(of: block)
        round += 1
      }
      return withUnsafeBytes(of: derived) { SymmetricKey(data: $0) }
    }

    private static func words(of block: HMAC<SHA256>.MAC) -> SIMD4<UInt64> {
      block.withUnsafeBytes { $0.loadUnaligned(as: SIMD4<UInt64>.self) }
    }
  }
#endif

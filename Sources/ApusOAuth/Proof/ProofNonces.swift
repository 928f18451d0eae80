import ApusCore
import HTTPTypes
import Synchronization

/// The latest nonce of each server for proofs of possession (RFC 9449 §8).
final class ProofNonces: Sendable {
  /// The maximum number of servers.
  private static let maximumCount = 64
  /// The maximum length of a nonce in bytes.
  private static let maximumLength = 1024
  private static let field = HTTPField.Name("DPoP-Nonce")

  private let nonces = Mutex<[Origin: String]>([:])

  subscript(origin: Origin) -> String? { nonces.withLock { $0[origin] } }

  /// Stores the nonce of a response.
  ///
  /// - Returns: whether the response had a nonce.
  @discardableResult
  func store(_ fields: HTTPFields, from origin: Origin) -> Bool {
    guard let field = Self.field, let nonce = fields[field], !nonce.isEmpty, nonce.utf8.count <= Self.maximumLength,
      nonce.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
    else { return false }
    nonces.withLock { nonces in
      if nonces.count >= Self.maximumCount, nonces[origin] == nil { nonces.removeAll() }
      nonces[origin] = nonce
    }
    return true
  }
}

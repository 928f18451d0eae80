#if AWS
import Crypto
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The day, region and service for which a signature holds.
struct SigningScope: Sendable, Hashable {
  let day: String
  let region: String
  let service: String

  /// The scope as it is written in signatures.
  var text: String { "\(day)/\(region)/\(service)/aws4_request" }
}

/// The signing key that was derived last. It holds for one scope, and costs four keyed hashes.
final class SigningKeys: Sendable {
  private struct Derived: Sendable {
    let secret: String
    let scope: SigningScope
    let key: SymmetricKey
  }

  private let latest = Mutex<Derived?>(nil)

  func key(_ secret: String, for scope: SigningScope) -> SymmetricKey {
    if let key = latest.withLock({ $0.flatMap { $0.scope == scope && $0.secret == secret ? $0.key : nil } }) {
      return key
    }
    var key = SymmetricKey(data: Array("AWS4\(secret)".utf8))
    for part in [scope.day, scope.region, scope.service, "aws4_request"] {
      key = SymmetricKey(data: HMAC<SHA256>.authenticationCode(for: Array(part.utf8), using: key))
    }
    latest.withLock { [key] in $0 = Derived(secret: secret, scope: scope, key: key) }
    return key
  }
}
#endif

import Crypto
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A cache of the signing keys that were derived last. A key is valid for one scope, and its derivation takes four
/// keyed hashes.
final class SigningKeys: Sendable {
  /// The maximum number of keys: a client may sign for a few regions and identities.
  private static let limit = 8

  /// The latest moments, at most one for each scope and secret; the most recent is the last.
  private let latest = Mutex<[SigningMoment]>([])

  /// Returns the moment of a signature.
  func moment(at date: Date, _ region: String, _ service: String, _ secret: String) -> SigningMoment {
    let seconds = SigningTime.seconds(date)
    let known = latest.withLock { moments in
      moments.last { $0.seconds == seconds && $0.isFor(region, service, secret) }
    }
    return known ?? moment(seconds, region, service, secret)
  }

  private func moment(_ seconds: Int64, _ region: String, _ service: String, _ secret: String) -> SigningMoment {
    let time = SigningTime(seconds: seconds)
    let scope = SigningScope(day: time.day, region: region, service: service)
    let known = latest.withLock { $0.last { $0.scope == scope && $0.secret == secret } }
    let moment = SigningMoment(
      seconds: seconds, time: time.text, scope: scope, scopeText: known?.scopeText ?? scope.text, secret: secret,
      key: known?.key ?? Self.key(secret, scope))
    latest.withLock { moments in
      moments.removeAll { $0.scope == scope && $0.secret == secret }
      if moments.count >= Self.limit { moments.removeFirst() }
      moments.append(moment)
    }
    return moment
  }

  private static func key(_ secret: String, _ scope: SigningScope) -> SymmetricKey {
    var key = SymmetricKey(data: Array("AWS4\(secret)".utf8))
    for part in [scope.day, scope.region, scope.service, "aws4_request"] {
      key = SymmetricKey(data: HMAC<SHA256>.authenticationCode(for: Array(part.utf8), using: key))
    }
    return key
  }
}

/// The day, region and service for which a signature is valid.
struct SigningScope: Sendable, Hashable {
  let day: String
  let region: String
  let service: String

  /// The scope in the syntax of signatures.
  var text: String { "\(day)/\(region)/\(service)/aws4_request" }
}

/// The time of a signature with its scope and key.
struct SigningMoment: Sendable {
  /// The whole seconds since 1970.
  fileprivate let seconds: Int64
  /// The time in the syntax of requests.
  let time: String
  fileprivate let scope: SigningScope
  /// The scope in the syntax of signatures.
  let scopeText: String
  fileprivate let secret: String
  let key: SymmetricKey
}

extension SigningMoment {
  fileprivate func isFor(_ region: String, _ service: String, _ secret: String) -> Bool {
    scope.region == region && scope.service == service && self.secret == secret
  }
}

import Apus
import Synchronization

/// The folder in which responses are stored.
struct CachePlan: Sendable, Hashable {
  let folder: String

  /// Returns the account whose responses are stored. Only a digest of it is stored.
  ///
  /// Without credentials it is the user without a name, so that responses to requests with credentials in their fields
  /// are stored, too: the digest of those fields is a part of their key.
  ///
  /// - Parameters:
  ///   - credentials: the credentials of a client.
  ///   - signing: its signatures.
  ///   - environment: the variables that choose AWS credentials.
  static func account(
    of credentials: CredentialPlan?, _ signing: AWSPlan?, in environment: [String: String]
  ) -> String {
    switch credentials {
    case .bearer(let token)?: return "bearer \(token.value)"
    // Without the password, which would be easy to guess.
    case .basic(let user, _)?: return "basic \(user)"
    case .profile(let signedIn)?: return "profile \(signedIn.profile.identity)"
    case nil: break
    }
    guard let signing else { return "none" }
    return "aws \(signing.credentials.account(in: environment) ?? "")"
  }
}

/// The caches of a command, one for each account, all in the same folder.
final class Caches: Sendable {
  private let plan: CachePlan
  private let made = Mutex<[String: ResponseCache]>([:])

  init(_ plan: CachePlan) {
    self.plan = plan
  }

  /// Returns the cache of an account.
  func cache(of account: String) -> ResponseCache {
    made.withLock { made in
      if let cache = made[account] { return cache }
      let cache = ResponseCache(.folder(plan.folder), account: account, heuristicFreshness: true)
      made[account] = cache
      return cache
    }
  }
}

/// The effect of the cache on a call, for the results of a batch.
struct CacheOutcome: Sendable, Hashable {
  /// The origin of the response.
  enum Use: String, Sendable, Hashable, CaseIterable {
    /// A fresh stored response.
    case hit
    /// A stored response past its lifetime.
    case stale
    /// A stored response that the server has confirmed.
    case revalidated
    /// The server.
    case miss
  }

  let use: Use
  /// Whether the server's response was stored, or freshened the stored one.
  let isStored: Bool

  /// The effect on a call that the cache does not handle, for example a POST.
  static let unhandled = CacheOutcome("", isStale: false)

  init(_ status: CacheStatus) {
    self.init(status.description, isStale: status.isStale)
  }

  /// - Parameters:
  ///   - text: the value of the field `Cache-Status` (RFC 9211), for example `Apus; fwd=stale; fwd-status=304; stored`.
  ///   - isStale: whether the response is past its lifetime.
  init(_ text: String, isStale: Bool) {
    let words = text.split(separator: ";").map { $0.drop { $0 == " " } }
    isStored = words.contains("stored")
    if isStale {
      use = .stale
    } else if words.contains("fwd-status=304") {
      use = .revalidated
    } else {
      use = words.contains("hit") ? .hit : .miss
    }
  }
}

extension Trace {
  /// The last decision of the cache; `nil` if it made none.
  var cacheOutcome: CacheOutcome? {
    for event in events.reversed() {
      if case .cache(let status) = event.kind { return CacheOutcome(status) }
    }
    return nil
  }
}

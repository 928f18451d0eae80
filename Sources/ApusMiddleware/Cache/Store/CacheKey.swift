import ApusCore

/// The key of a stored response: only calls with equal keys may get each other's stored responses.
struct CacheKey: Hashable, Sendable {
  /// The origin and the target of the request, by which all accounts' responses of a URL are invalidated; see
  /// ``CacheSubjects``.
  let target: KeyedDigest
  /// A tag of the account or the session. `nil`: the request has no credentials of any kind.
  let account: UInt64?
  /// Everything else that tells calls apart.
  let session: KeyedDigest

  /// All digests are random already, so a part of them suffices.
  func hash(into hasher: inout Hasher) {
    hasher.combine(chain)
  }

  /// A number by which an index finds entries. Different keys may have the same number.
  var chain: UInt64 { target.first ^ session.second ^ (account ?? 0) }
}

/// The digests of what an invalidation concerns.
struct CacheSubjects: Sendable {
  let key: DigestKey

  private enum Kind: UInt64 {
    case target = 1
    case group = 2
    case groupEverywhere = 3
    case account = 4
  }

  /// Returns the digest of a request target, path and query, at its origin.
  func target(_ target: String, at origin: Origin) -> KeyedDigest {
    digest(.target, target, origin)
  }

  /// Returns the digest of a group.
  ///
  /// - Parameter origin: `nil`: the group at all origins.
  func group(_ group: String, at origin: Origin?) -> KeyedDigest {
    digest(origin == nil ? .groupEverywhere : .group, group, origin)
  }

  /// Returns the digests of groups of a response of an origin: at this origin, and at all origins.
  func groups(_ groups: Set<String>, at origin: Origin) -> [KeyedDigest] {
    groups.flatMap { [group($0, at: origin), group($0, at: nil)] }
  }

  /// Returns the digest of an account's name.
  func account(named name: String) -> KeyedDigest {
    digest(.account, name, nil)
  }

  private func digest(_ kind: Kind, _ text: String, _ origin: Origin?) -> KeyedDigest {
    var hasher = KeyedHasher(key)
    guard let origin else {
      hasher.combine(kind.rawValue)
      return hasher.finish(text)
    }
    // Few words, because this is on the path of every GET.
    let scheme: UInt64 = origin.scheme == "https" ? 1 : 0
    let port = UInt64(UInt16(truncatingIfNeeded: origin.port))
    hasher.combine(kind.rawValue | scheme << 8 | port << 16 | UInt64(origin.host.utf8.count) << 32)
    hasher.combineUncounted(origin.host)
    return hasher.finish(text)
  }
}

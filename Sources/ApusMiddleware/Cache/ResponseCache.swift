public import ApusCore
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A private cache (RFC 9111): it stores responses to GET, HEAD and QUERY, in memory or in a folder.
///
/// ```swift
/// let api = Client(baseURL: "https://api.example.com/v1") {
///   $0.cache = ResponseCache(.memory(megabytes: 32))
/// }
/// ```
///
/// A response is stored and used as its `Cache-Control` and the other fields say. Endpoints add what the server does not
/// say: ``Endpoint/cache(for:)``, ``Endpoint/cacheGroups(_:)``, ``Endpoint/invalidates(_:)`` and
/// ``Endpoint/cache(_:)``. A stale response is used while it is revalidated (`stale-while-revalidate`), in place of a
/// failure (`stale-if-error`), and up to 7 days without a network; it then says so (``CacheStatus/isStale``).
///
/// Nothing that one account gets ever reaches another: a response belongs to the principal of its call
/// (``CallContext/principal``), to the credentials in its fields and query, and to the session of its ``CookieJar``.
/// ``Client/signOut()`` removes what belongs to the account. Stored responses contain neither credentials of requests
/// nor `Set-Cookie`.
///
/// An entry uses at most an eighth of the capacity, and at most 16 MiB. The least recently used entries are removed
/// first. Several clients may share a cache, and several processes a folder.
public final class ResponseCache: Sendable {
  /// The place where responses are stored.
  public struct Storage: Sendable {
    enum Kind: Sendable {
      case memory
      case folder(String)
    }

    let kind: Kind
    let capacity: Int64

    /// Stores responses in memory, until the process ends. On Apple platforms a memory warning removes them.
    ///
    /// - Parameter megabytes: the capacity in units of 2²⁰ bytes. Default: 32.
    public static func memory(megabytes: Int = 32) -> Storage {
      Storage(kind: .memory, capacity: Self.bytes(megabytes))
    }

    /// Stores responses in a folder, also for later processes.
    ///
    /// Small responses that were read lately are also kept in memory, up to 4 MiB.
    ///
    /// The folder and its files are accessible to their owner only; on Apple platforms use a folder in the caches
    /// directory. If the folder cannot be used, nothing is stored; calls are not affected.
    ///
    /// - Parameters:
    ///   - path: the path of the folder, which is created if it is missing. It must contain nothing else.
    ///   - megabytes: the capacity in units of 2²⁰ bytes. Default: 256.
    public static func folder(_ path: String, megabytes: Int = 256) -> Storage {
      Storage(kind: .folder(path), capacity: Self.bytes(megabytes))
    }

    private static func bytes(_ megabytes: Int) -> Int64 { Int64(min(max(0, megabytes), 1 << 40)) << 20 }
  }

  let store: CacheStore
  /// The largest number of bytes of an entry.
  let entryLimit: Int64
  let rules: CacheRules
  /// The account to which what outlives the process belongs.
  let account: String?
  let revalidations = Mutex(RevalidationState())
  private let owner = Mutex(CacheOwner())
  private let memoryWarning: MemoryWarning
  private let now: @Sendable () -> Date

  /// Creates a cache.
  ///
  /// - Parameters:
  ///   - storage: the place where responses are stored. Default: 32 MiB of memory.
  ///   - account: the account whose responses a folder stores, for example the id of the user; only a digest of it is
  ///     stored. Another account uses nothing of them. Without an account a folder stores only responses to calls
  ///     without credentials of any kind. Default: `nil`.
  ///   - heuristicFreshness: whether a response without a lifetime stays fresh for a tenth of the time since its last
  ///     modification, at most 24 hours (RFC 9111 §4.2.2). Default: `false`, because responses of an API change without
  ///     notice.
  public convenience init(
    _ storage: Storage = .memory(), account: String? = nil, heuristicFreshness: Bool = false
  ) {
    self.init(storage, account: account, CacheRules(heuristicFreshness: heuristicFreshness)) { Date() }
  }

  /// - Parameter now: the wall clock.
  init(_ storage: Storage, account: String?, _ rules: CacheRules, now: @escaping @Sendable () -> Date) {
    switch storage.kind {
    case .memory: store = .memory(MemoryStore(capacity: storage.capacity))
    case .folder(let path): store = .folder(FolderStore(path, capacity: storage.capacity))
    }
    entryLimit = CacheIndex<Never>(capacity: storage.capacity).entryLimit
    (self.account, self.rules, self.now) = (account, rules, now)
    memoryWarning =
      switch store {
      case .memory(let store): MemoryWarning { [weak store] in store?.removeAll() }
      case .folder(let store): MemoryWarning { [weak store] in store?.removeCopies() }
      }
  }

  /// Removes all stored responses, of all accounts. Responses that are arriving are not stored.
  public func removeAll() async {
    await store.removeAll()
  }

  /// The number of bytes that stored responses use. In a folder, entries of other processes count as far as they are
  /// known.
  public var usage: Int64 {
    get async { await store.usage }
  }

  /// Removes what is stored for the account, or in memory for all accounts.
  func removeAccount() async {
    owner.withLock { $0.signOut() }
    await store.remove(account: store.subjects().flatMap { accountTag($0) })
  }

  /// The number that stands for the account in a folder; `nil` without an account.
  func accountTag(_ subjects: CacheSubjects) -> UInt64? {
    account.map { subjects.account(named: $0).first }
  }

  /// Reads the clocks.
  func instant(_ context: CallContext) -> CacheInstant {
    let wall = now().timeIntervalSince1970 * 1000
    return CacheInstant(
      wall: Int64(exactly: wall.rounded(.down)) ?? 0, monotonic: context.now.sinceStart.milliseconds)
  }

  /// Binds the account to the credentials of a call, see ``CacheOwner``.
  func bind(_ credentials: UInt64, in environment: Environment) -> CacheOwner.Binding {
    owner.withLock { $0.bind(credentials, at: environment.baseURL.origin) }
  }
}

extension ResponseCache {
  /// The place and the limits for `describe()`.
  var facts: [Fact] {
    let place: Fact =
      switch (store.outlivesProcess, account) {
      case (false, _): .setting("in memory", "")
      case (true, nil): .setting("in a folder", "without an account")
      case (true, _?): .setting("in a folder", "for an account")
      }
    var facts = [place, .setting("responses up to", "\(entryLimit) bytes")]
    if rules.heuristicFreshness { facts.append(.setting("heuristic freshness", "")) }
    if store.outlivesProcess, account == nil { facts.append(.cacheWithoutAccount) }
    return facts
  }
}

extension Client {
  /// Invalidates groups of stored responses: they are validated before their next use. For changes that the app learns
  /// about in another way than by a call, for example by a push notification.
  ///
  /// Has no effect without a ``ResponseCache``.
  ///
  /// - Parameter groups: the groups, see ``Endpoint/cacheGroups(_:)``.
  public func invalidate(_ groups: String...) async {
    for case let middleware as CacheMiddleware in parts.pipeline.middlewares {
      await middleware.cache.store.invalidate(groups: Set(groups))
    }
  }
}

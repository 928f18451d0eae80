import ApusCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The place where a cache stores responses.
///
/// An enumeration and no protocol, so that a lookup in memory neither allocates nor suspends.
enum CacheStore: Sendable {
  case memory(MemoryStore)
  case folder(FolderStore)

  /// Whether nothing is stored and no request is in flight, so that invalidations have no effect.
  var isIdle: Bool {
    switch self {
    case .memory(let store): store.isEmpty
    // Another process may have stored responses.
    case .folder: false
    }
  }

  /// Whether responses are stored for later processes.
  var outlivesProcess: Bool {
    if case .folder = self { true } else { false }
  }

  /// Returns the digests of the store; `nil` if its folder cannot be used.
  func subjects() async -> CacheSubjects? {
    switch self {
    case .memory(let store): store.subjects
    case .folder(let store): await store.subjects()
    }
  }

  /// The number of bytes of all entries.
  var usage: Int64 {
    get async {
      switch self {
      case .memory(let store): store.usage
      case .folder(let store): await store.usage
      }
    }
  }

  // MARK: Lookup

  /// Returns the responses of a key. Does not count as a use.
  func entries(for key: CacheKey) async -> CacheEntries {
    switch self {
    case .memory(let store): store.entries(for: key)
    case .folder(let store): await store.entries(for: key)
    }
  }

  /// The result of a lookup that begins a request if nothing is stored.
  enum Found: Sendable {
    case found(CacheEntries)
    /// Nothing. A request was recorded, as by ``begin()``.
    case began(UInt64)
  }

  /// Returns the content of a response, empty if it has none; `nil` if it does not exist any more.
  func content(of id: UInt64, in entries: CacheEntries) async -> Data? {
    if let content = entries.content(of: id) { return content }
    switch self {
    case .memory: return Data()
    case .folder(let store): return await store.content(of: id, in: entries)
    }
  }

  /// Records that an entry was used: entries that were not used for the longest time are removed first.
  func used(_ id: UInt64) {
    switch self {
    case .memory(let store): store.used(id)
    case .folder(let store): store.used(id)
    }
  }

  // MARK: Requests

  /// Records that a request is sent. Returns its generation, for the exchange of its response and for ``end()``.
  func begin() -> UInt64 {
    switch self {
    case .memory(let store): store.begin()
    case .folder(let store): store.begin()
    }
  }

  /// Records that the response to a request was stored, or that there will be none.
  func end() {
    switch self {
    case .memory(let store): store.end()
    case .folder(let store): store.end()
    }
  }

  /// Applies the effect of a response, before ``end()``.
  ///
  /// - Parameters:
  ///   - content: the content of the new response. `nil`: a response without content, as to HEAD.
  ///   - key: the key of the request.
  ///   - origin: the origin of the request, for the groups of the response.
  /// - Returns: whether the response was stored, or freshened what is stored.
  func apply(_ update: CacheUpdate, content: Data?, under key: CacheKey, at origin: Origin) async -> Bool {
    switch self {
    case .memory(let store): store.apply(update, content: content, under: key, at: origin)
    case .folder(let store): await store.apply(update, content: content, under: key, at: origin)
    }
  }

  // MARK: Invalidation and removal

  /// Invalidates the responses of targets and groups at one origin.
  func invalidate(_ invalidation: CacheInvalidation) async {
    switch self {
    case .memory(let store): store.invalidate(invalidation)
    case .folder(let store): await store.invalidate(invalidation)
    }
  }

  /// Invalidates the responses of groups at all origins.
  func invalidate(groups: Set<String>) async {
    guard !groups.isEmpty else { return }
    switch self {
    case .memory(let store): store.invalidate(groups: groups)
    case .folder(let store): await store.invalidate(groups: groups)
    }
  }

  /// Removes everything. Responses to requests in flight are not stored.
  func removeAll() async {
    switch self {
    case .memory(let store): store.removeAll()
    case .folder(let store): await store.removeAll()
    }
  }

  /// Removes the responses to requests with credentials, in a folder those of one account. Responses in flight are not
  /// stored.
  ///
  /// - Parameter tag: the tag of the account; `nil`: all accounts.
  func remove(account tag: UInt64?) async {
    switch (self, tag) {
    case (.memory(let store), _): store.removeAccounts()
    case (.folder(let store), let tag?): await store.remove(account: tag)
    case (.folder, nil): break
    }
  }
}

import ApusCore
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The stored responses of a cache in memory.
final class MemoryStore: Sendable {
  private struct Stored: Sendable {
    /// The response with its content; as one value, because a lookup that finds one entry returns it as it is.
    var entry: CacheEntries
    var generation: UInt64
    var groups: [KeyedDigest]
  }

  /// The digests for the keys and the invalidations of this store.
  let subjects = CacheSubjects(key: .random())
  private let state: Mutex<State>
  private let activity = Atomic<Int>(0)

  /// - Parameter capacity: the maximum number of bytes.
  init(capacity: Int64) {
    state = Mutex(State(index: CacheIndex(capacity: capacity)))
  }

  /// Whether nothing is stored and no request is in flight, so that invalidations have no effect.
  var isEmpty: Bool { activity.load(ordering: .acquiring) == 0 }

  /// The number of bytes of all entries.
  var usage: Int64 { state.withLock { $0.index.usage } }

  private func change<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
    state.withLock { state in
      let result = body(&state)
      activity.store(state.activity, ordering: .releasing)
      return result
    }
  }

  // MARK: Lookup

  /// Returns the responses of a key. Does not count as a use.
  func entries(for key: CacheKey) -> CacheEntries {
    state.withLock { $0.entries(for: key) }
  }

  /// Records that an entry was used: entries that were not used for the longest time are removed first.
  func used(_ id: UInt64) {
    state.withLock { $0.index.use(id) }
  }

  // MARK: Requests

  /// Records that a request is sent. Returns its generation, for the exchange of its response and for ``end()``.
  func begin() -> UInt64 {
    change { $0.invalidations.begin() }
  }

  /// Returns the responses of a key. Without any, records that a request is sent.
  func entriesOrBegin(_ key: CacheKey) -> CacheStore.Found {
    state.withLock { state in
      let entries = state.entries(for: key)
      guard entries.isEmpty else { return .found(entries) }
      let token = state.invalidations.begin()
      activity.store(state.activity, ordering: .releasing)
      return .began(token)
    }
  }

  /// Records that the response to a request was stored, or that there will be none.
  func end() {
    change { $0.invalidations.end() }
  }

  /// Applies the effect of a response, before ``end()``.
  ///
  /// - Parameters:
  ///   - content: the content of the new response. `nil`: a response without content, as to HEAD.
  ///   - key: the key of the request.
  ///   - origin: the origin of the request, for the groups of the response.
  /// - Returns: whether the response was stored, or freshened what is stored. `false` also if the response is too
  ///   large, or if its account was removed after the request was sent.
  func apply(_ update: CacheUpdate, content: Data?, under key: CacheKey, at origin: Origin) -> Bool {
    // Hashing and releasing need no lock.
    let received = update.new.map { Received($0, content, under: key, groups: subjects.groups($0.groups, at: origin)) }
    let freshened = update.freshened.map { Received($0, under: key, groups: subjects.groups($0.groups, at: origin)) }
    let (isStored, removed) = change { state in
      var removed = state.remove(update, under: key)
      var isStored = false
      for fresh in freshened where state.freshen(fresh) { isStored = true }
      if let received, state.store(received) { isStored = true }
      if let variant = state.index.evictVariant(of: key) { removed.append(variant) }
      removed += state.index.evict(to: state.index.capacity)
      return (isStored, removed)
    }
    withExtendedLifetime(removed) {}
    return isStored
  }

  // MARK: Invalidation and removal

  /// Removes the responses of targets, and invalidates those of groups, at one origin.
  func invalidate(_ invalidation: CacheInvalidation) {
    guard !isEmpty else { return }
    let targets = invalidation.targets.map { subjects.target($0, at: invalidation.origin) }
    let groups = invalidation.groups.map {
      CacheInvalidations.Change.group(subjects.group($0, at: invalidation.origin))
    }
    let removed = change { state in
      state.invalidations.record(groups, targets: targets)
      return targets.flatMap { state.index.removeAll(ofTarget: $0) }
    }
    withExtendedLifetime(removed) {}
  }

  /// Invalidates the responses of groups at all origins.
  func invalidate(groups: Set<String>) {
    guard !isEmpty else { return }
    let changes = groups.map { CacheInvalidations.Change.group(subjects.group($0, at: nil)) }
    change { $0.invalidations.record(changes) }
  }

  /// Removes everything. Responses to requests in flight are not stored.
  func removeAll() {
    remove(.everything) { _ in true }
  }

  /// Removes the responses to requests with credentials. Those in flight are not stored.
  func removeAccounts() {
    remove(.accounts) { $0.account != nil }
  }

  /// Removes the responses of an account. Those in flight are not stored.
  func remove(account tag: UInt64) {
    remove(.account(tag)) { $0.account == tag }
  }

  private func remove(_ recorded: CacheInvalidations.Change, where isRemoved: (CacheKey) -> Bool) {
    guard !isEmpty else { return }
    let removed = change { state in
      state.invalidations.record([recorded])
      return state.index.removeAll(where: isRemoved)
    }
    withExtendedLifetime(removed) {}
  }
}

extension MemoryStore {
  /// A response with what the store needs beside it.
  private struct Received: Sendable {
    let response: StoredResponse
    let content: Data?
    let key: CacheKey
    let groups: [KeyedDigest]

    init(_ response: StoredResponse, _ content: Data? = nil, under key: CacheKey, groups: [KeyedDigest]) {
      (self.response, self.content, self.key, self.groups) = (response, content, key, groups)
    }

    var generation: UInt64 { response.exchange.generation }
  }

  private struct State: Sendable {
    var index: CacheIndex<Stored>
    var invalidations = CacheInvalidations()

    /// The number of entries, and 1 while requests are in flight.
    var activity: Int { index.count + (invalidations.hasFlights ? 1 : 0) }

    /// Returns the responses of a key.
    func entries(for key: CacheKey) -> CacheEntries {
      var found = CacheEntries()
      index.forEach(under: key) { _, stored in
        var entry = stored.entry
        if invalidations.isInvalidated(stored.groups, sentAt: stored.generation) { entry.invalidate() }
        if found.isEmpty { found = entry } else { found.append(entry) }
      }
      return found
    }

    /// Removes the outdated entries, and those that must be validated but cannot be. Returns them.
    mutating func remove(_ update: CacheUpdate, under key: CacheKey) -> [CacheIndex<Stored>.Entry] {
      var removed = update.outdated.filter { index[$0]?.key == key }.compactMap { index.remove($0) }
      for id in update.invalidated {
        guard let entry = index[id], entry.key == key else { continue }
        if entry.payload.entry.responses.contains(where: \.hasValidator) {
          index.update(id) { $0.entry.invalidate() }
        } else if let entry = index.remove(id) {
          removed.append(entry)
        }
      }
      return removed
    }

    /// Replaces the response of an entry. Returns whether it was replaced.
    mutating func freshen(_ fresh: Received) -> Bool {
      let id = fresh.response.id
      guard let entry = index[id], entry.key == fresh.key, !isTooLate(fresh), !isInvalidated(fresh) else {
        return false
      }
      let size = fresh.response.headSize + Int64(entry.payload.entry.content(of: id)?.count ?? 0)
      guard size <= index.entryLimit else {
        index.remove(id)
        return false
      }
      index.update(id, size: size) { stored in
        stored.entry.replace(fresh.response)
        (stored.generation, stored.groups) = (fresh.generation, fresh.groups)
      }
      return true
    }

    /// Stores a response. Returns whether it was stored.
    mutating func store(_ received: Received) -> Bool {
      guard !isTooLate(received) else { return false }
      var response = received.response
      if let content = received.content { response.contentLength = Int64(content.count) }
      response.isInvalidated = response.isInvalidated || isInvalidated(received)
      // A response that must be validated but cannot be is never used.
      guard !response.isInvalidated || response.hasValidator else { return false }
      let size = response.headSize + Int64(received.content?.count ?? 0)
      guard size <= index.entryLimit else { return false }
      index.insert(received.key, size: size) { id in
        response.id = id
        return Stored(
          entry: CacheEntries(response, received.content), generation: received.generation, groups: received.groups)
      }
      return true
    }

    private func isTooLate(_ received: Received) -> Bool {
      invalidations.isRemoved(account: received.key.account, sentAt: received.generation)
    }

    private func isInvalidated(_ received: Received) -> Bool {
      invalidations.isInvalidated(target: received.key.target, sentAt: received.generation)
        || invalidations.isInvalidated(received.groups, sentAt: received.generation)
    }
  }
}

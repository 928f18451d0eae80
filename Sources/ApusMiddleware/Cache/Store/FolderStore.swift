import ApusCore
import ApusFiles
import Dispatch
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The stored responses of a cache in a folder, which several processes may use.
///
/// An entry is a file, and whole or absent whenever the process is killed. A full or read-only disk, and a folder that
/// other users can access, only mean that nothing is stored. The folder contains no URL, no credentials and no path.
final class FolderStore: Sendable {
  private enum Opening {
    case closed
    case opened(CacheFolder)
    /// Opening failed at a time in milliseconds since 1970.
    case failed(FileError, at: Int64)
  }

  /// The milliseconds after which opening is attempted again.
  private static let retryInterval: Int64 = 1000

  private let path: String
  private let capacity: Int64
  private let clock: @Sendable () -> Int64
  private let opening = Mutex(Opening.closed)
  /// Lookups, in order.
  private let lookups = DispatchQueue(label: "apus.cache.lookups")
  /// The content of large entries.
  private let contents = DispatchQueue(label: "apus.cache.contents", attributes: .concurrent)
  /// Changes of the folder, in order.
  private let changes = DispatchQueue(label: "apus.cache.changes")

  /// Creates a store. The folder is opened, or created, when it is used first.
  ///
  /// - Parameters:
  ///   - capacity: the maximum number of bytes.
  ///   - clock: the milliseconds since 1970. Default: the system's wall clock.
  init(
    _ path: String, capacity: Int64,
    clock: @escaping @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970 * 1000) }
  ) {
    (self.path, self.capacity, self.clock) = (path, capacity, clock)
  }

  // MARK: Opening

  /// The open folder. `nil`: it is not open yet, or cannot be opened.
  private var folder: CacheFolder? {
    opening.withLock { if case .opened(let folder) = $0 { folder } else { nil } }
  }

  /// The reason why nothing can be stored. `nil`: the folder is open, or was not used yet.
  var problem: FileError? {
    opening.withLock { if case .failed(let error, _) = $0 { error } else { nil } }
  }

  private func opened() async -> CacheFolder? {
    if let folder { return folder }
    return await changes.run { [self] in open() }
  }

  /// Opens the folder, at most once a second if it cannot be opened.
  private func open() -> CacheFolder? {
    let now = clock()
    switch opening.withLock({ $0 }) {
    case .opened(let folder): return folder
    case .failed(_, let time) where abs(now.clampedMinus(time)) < Self.retryInterval: return nil
    case .closed, .failed: break
    }
    do throws(FileError) {
      let folder = try CacheFolder(path, capacity: capacity, clock: clock)
      opening.withLock { $0 = .opened(folder) }
      return folder
    } catch {
      opening.withLock { $0 = .failed(error, at: now) }
      return nil
    }
  }

  /// Closes a folder whose files another program has removed, so that the next use creates it again.
  private func closeIfLost(_ folder: CacheFolder) {
    guard !folder.shared.isLinked else { return }
    opening.withLock { if case .opened(let current) = $0, current === folder { $0 = .closed } }
  }

  /// Performs a change of the folder. Returns `nil` if it cannot be opened.
  private func change<Output: Sendable>(_ work: @escaping @Sendable (CacheFolder) -> Output) async -> Output? {
    await changes.run { [self] in
      guard let folder = open() else { return nil }
      let output = work(folder)
      closeIfLost(folder)
      return output
    }
  }

  /// The digests for the keys and the invalidations of this store. `nil`: the folder cannot be opened, and ``problem``
  /// is the reason.
  func subjects() async -> CacheSubjects? {
    await opened()?.subjects
  }

  // MARK: Lookup

  /// Returns the responses of a key, with the content of entries of at most 64 KiB. Does not count as a use.
  func entries(for key: CacheKey) async -> CacheEntries {
    guard let folder = await opened() else { return CacheEntries() }
    if let copies = folder.copies(for: key) { return copies }
    return await lookups.run { folder.entries(for: key) }
  }

  /// Returns the content of a response. `nil`: it has none, or its entry was removed or damaged meanwhile.
  func content(of id: UInt64, in entries: CacheEntries) async -> Data? {
    if let content = entries.content(of: id) { return content }
    guard let folder else { return nil }
    return await contents.run { folder.content(of: id) }
  }

  /// Records that an entry was used: entries that were not used for the longest time are removed first, also after a
  /// restart.
  func used(_ id: UInt64) {
    guard let folder, let name = folder.used(id) else { return }
    changes.async { folder.folder.touch(name) }
  }

  // MARK: Requests

  /// Records that a request is sent. Returns its generation, for the exchange of its response and for ``end()``.
  func begin() -> UInt64 {
    folder?.state.withLock { $0.invalidations.begin() } ?? 0
  }

  /// Returns the responses of a key if they are in memory. Without any, records that a request is sent. `nil`: the folder
  /// is not open yet, or files must be read.
  func entriesOrBegin(_ key: CacheKey) -> CacheStore.Found? {
    guard let folder, let copies = folder.copies(for: key) else { return nil }
    return copies.isEmpty ? .began(folder.state.withLock { $0.invalidations.begin() }) : .found(copies)
  }

  /// The digests for the keys, if the folder is open.
  var openSubjects: CacheSubjects? { folder?.subjects }

  /// Removes what is kept in memory of entries that were read lately.
  func removeCopies() {
    folder?.removeCopies()
  }

  /// Records that the response to a request was stored, or that there will be none.
  func end() {
    folder?.state.withLock { $0.invalidations.end() }
  }

  /// Applies the effect of a response, before ``end()``. Entries that a response to HEAD invalidates are removed.
  ///
  /// - Parameters:
  ///   - content: the content of the new response. `nil`: a response without content, as to HEAD.
  ///   - key: the key of the request.
  ///   - origin: the origin of the request, for the groups of the response.
  /// - Returns: whether the response was stored, or freshened what is stored. `false` also if the response is too
  ///   large, if its account was removed after the request was sent, and if the disk is full.
  func apply(_ update: CacheUpdate, content: Data?, under key: CacheKey, at origin: Origin) async -> Bool {
    await change { $0.apply(update, content: content, under: key, at: origin) } ?? false
  }

  // MARK: Invalidation and removal

  /// Removes the responses of targets, and invalidates those of groups, at one origin, for all processes.
  func invalidate(_ invalidation: CacheInvalidation) async {
    _ = await change { folder in
      let subjects = folder.subjects
      let origin = invalidation.origin
      folder.invalidate(
        targets: invalidation.targets.map { subjects.target($0, at: origin) },
        invalidation.groups.map { .group(subjects.group($0, at: origin)) })
    }
  }

  /// Invalidates the responses of groups at all origins, for all processes.
  func invalidate(groups: Set<String>) async {
    _ = await change { folder in
      folder.invalidate(targets: [], groups.map { .group(folder.subjects.group($0, at: nil)) })
    }
  }

  /// Removes everything. Responses to requests in flight are not stored.
  func removeAll() async {
    _ = await change { $0.remove(.everything) { _ in true } }
  }

  /// Removes the responses to requests with credentials. Those in flight are not stored.
  func removeAccounts() async {
    _ = await change { $0.remove(.accounts) { $0.account != nil } }
  }

  /// Removes the responses of an account. Those in flight are not stored.
  func remove(account tag: UInt64) async {
    _ = await change { $0.remove(.account(tag)) { $0.account == tag } }
  }

  /// The number of bytes of all entries.
  var usage: Int64 {
    get async {
      await change { $0.usage } ?? 0
    }
  }
}

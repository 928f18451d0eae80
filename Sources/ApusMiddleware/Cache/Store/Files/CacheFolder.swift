import ApusCore
import ApusFiles
import Synchronization

/// The stored responses of a cache in a folder that several processes may use: one file for each entry.
///
/// Each process has an index of the names; the heads stay in the files. All functions block. Functions that change the
/// folder must be called one at a time: the lock between processes is no lock between threads.
final class CacheFolder: Sendable {
  /// An entry of the index.
  struct FileEntry: Sendable {
    let serial: UInt64
    /// When the modification time of the file was set, which orders the entries by use for all processes. Milliseconds
    /// since 1970.
    var touched: Int64
    /// When this process used the entry, in milliseconds since 1970.
    var used: Int64
  }

  struct State: Sendable {
    var index: CacheIndex<FileEntry>
    var recent = RecentEntries()
    var invalidations = CacheInvalidations(capacity: Int(SharedRecord.capacity))
    /// The number of records that `invalidations` contains.
    var records: UInt64 = 0
    /// The number of changes of entries that the index contains.
    var changes: UInt64 = 0
    /// Whether another process has changed entries.
    var isOutdated = false
    /// When the names were read, in milliseconds since 1970.
    var scanned: Int64
    /// The bytes of files that were removed without changing the shared usage.
    var removedBytes: Int64 = 0
    /// Whether invalidations of groups, or removals of accounts, could not be shared yet.
    var unshared = (groups: false, accounts: false)
  }

  /// The milliseconds for which entries of other processes may stay unnoticed.
  static let scanInterval: Int64 = 1000
  /// The milliseconds after which the modification time of a used file is set again.
  static let touchInterval: Int64 = 60_000

  let folder: Folder
  let shared: SharedFile
  let format: EntryFormat
  let subjects: CacheSubjects
  let clock: @Sendable () -> Int64
  let state: Mutex<State>

  /// Opens a folder, or creates it with access for its owner only.
  ///
  /// - Parameters:
  ///   - capacity: the maximum number of bytes.
  ///   - clock: the milliseconds since 1970.
  /// - Throws: ``FileError``, also for a folder that belongs to another user or that others can access.
  init(_ path: String, capacity: Int64, clock: @escaping @Sendable () -> Int64) throws(FileError) {
    folder = try Folder.made(path)
    try folder.checkIsPrivate()
    shared = try SharedFile.open(in: folder)
    format = EntryFormat(shared.key)
    subjects = CacheSubjects(key: shared.key)
    self.clock = clock
    state = Mutex(State(index: CacheIndex(capacity: capacity), scanned: clock()))
    let isCounted: Void? = locked { (shared) throws(FileError) in
      try scan(removesDrafts: true)
      // A process that was killed may have left a wrong number.
      shared.usage = self.state.withLock { $0.index.usage }
      try self.shared.write(shared)
    }
    guard isCounted == nil else { return }
    refresh()
    try scan()
  }

  // MARK: Names

  func name(of entry: CacheIndex<FileEntry>.Entry) -> String {
    name(entry.key, entry.payload.serial)
  }

  func name(_ key: CacheKey, _ serial: UInt64) -> String {
    EntryName.known(key, serial: serial).text(format.nameKey)
  }

  // MARK: Other processes

  /// Reads what other processes have invalidated, and whether they have changed entries.
  func refresh() {
    guard let shared = shared.read() else { return }
    load(shared)
  }

  func load(_ shared: SharedState) {
    let first: UInt64? = state.withLock { state in
      if shared.changes > state.changes { (state.changes, state.isOutdated) = (shared.changes, true) }
      return state.knowsInvalidations(of: shared) ? nil : state.records
    }
    guard let first else { return }
    let oldest = shared.records - min(shared.records, SharedRecord.capacity)
    let numbers = max(first, oldest)..<max(first, oldest, shared.records)
    let records = numbers.map { self.shared.record($0) }
    state.withLock { state in
      var floors = shared.floors
      if records.contains(where: { $0 == nil }) {
        // A record was damaged. What it concerned is unknown.
        (floors.groups, floors.accounts) = (shared.generation, shared.generation)
      }
      state.invalidations.raise(floors)
      for case .some(let record) in records { state.invalidations.record([record.change], at: record.generation) }
      state.invalidations.raise(to: shared.generation)
      state.records = max(state.records, shared.records)
    }
  }

  /// Reads the names of all entries into the index. Removes entries of an earlier key of the folder.
  func scan(removesDrafts: Bool = false) throws(FileError) {
    let last = state.withLock { state in
      (state.isOutdated, state.scanned) = (false, clock())
      return state.index.lastID
    }
    var found: [EntryName] = []
    var unreadable: [String] = []
    var drafts: [String] = []
    try folder.forEachName { name in
      switch EntryName.kind(of: name, format.nameKey) {
      case .entry(let entry): found.append(entry)
      case .unreadable: unreadable.append(String(decoding: name, as: UTF8.self))
      case .other: if removesDrafts, Draft.isDraft(name) { drafts.append(String(decoding: name, as: UTF8.self)) }
      }
    }
    for draft in drafts { Draft.removeIfAbandoned(draft, in: folder) }
    if shared.isLinked { for name in unreadable { folder.remove(name) } }
    let unknown = state.withLock { $0.merge(found, last) }
    for name in unknown {
      guard let version = try folder.version(of: name.text(format.nameKey)) else { continue }
      let touched = version.modifiedMilliseconds
      let entry = FileEntry(serial: name.serial, touched: touched, used: touched)
      state.withLock { $0.insert(name.key, size: version.size, entry) }
    }
  }

  /// Reads the names of all entries if another process has changed entries, at most once a second.
  func scanIfOutdated() {
    let now = clock()
    let isDue = state.withLock { state in
      // The clock may have been set back.
      state.isOutdated && abs(now.clampedMinus(state.scanned)) >= Self.scanInterval
    }
    if isDue { try? scan() }
  }

  // MARK: Lock

  /// Performs a change of the folder while this process has its lock. Returns `nil` if the lock is not free, or if the
  /// change fails.
  ///
  /// - Parameter change: receives the shared state, and writes it when it has changed.
  func locked<Result>(_ change: (inout SharedState) throws(FileError) -> Result) -> Result? {
    do throws(FileError) {
      guard shared.isLinked, try shared.lock() else { return nil }
      defer { shared.unlock() }
      guard var shared = shared.read() else { return nil }
      load(shared)
      try share(&shared)
      let result = try change(&shared)
      state.withLock { state in
        // A foreign change was noticed by `load`.
        state.changes = max(state.changes, shared.changes)
        state.records = max(state.records, shared.records)
      }
      return result
    } catch {
      // The change may have been written in part, so the names are read again.
      state.withLock { $0.isOutdated = true }
      return nil
    }
  }

  /// Counts a change of entries by this process, before others see it, so that no lookup takes it for a foreign change.
  func noteChange(in shared: inout SharedState) {
    shared.changes += 1
    let changes = shared.changes
    state.withLock { $0.changes = max($0.changes, changes) }
  }

  /// Shares what could not be shared before: the removed bytes; and that responses must be validated, or removed.
  private func share(_ shared: inout SharedState) throws(FileError) {
    let (removed, unshared, generation) = state.withLock { state in
      defer { state.removedBytes = 0 }
      return (state.removedBytes, state.unshared, state.invalidations.generation)
    }
    shared.usage = max(0, shared.usage - removed)
    guard unshared.groups || unshared.accounts else { return }
    // Other processes may have recorded other changes at the generations of this process.
    shared.generation = max(shared.generation, generation) + 1
    if unshared.groups { shared.floors.groups = shared.generation }
    if unshared.accounts { shared.floors.accounts = shared.generation }
    try self.shared.write(shared)
    load(shared)
    state.withLock { $0.unshared = (false, false) }
  }
}

extension CacheFolder.State {
  /// Whether this process knows all changes of other processes.
  func isCurrent(_ shared: SharedState) -> Bool {
    !isOutdated && shared.changes <= changes && knowsInvalidations(of: shared)
  }

  /// Whether this process knows all invalidations of other processes.
  func knowsInvalidations(of shared: SharedState) -> Bool {
    shared.generation <= invalidations.generation && shared.records <= records
      && shared.floors.groups <= invalidations.floors.groups
      && shared.floors.accounts <= invalidations.floors.accounts
      && shared.floors.everything <= invalidations.floors.everything
  }

  /// Returns a response with what has happened since its file was written. `nil`: it must not be used.
  func present(_ head: EntryHead, _ id: UInt64, of account: UInt64?) -> StoredResponse? {
    var response = head.response
    let generation = response.exchange.generation
    guard !invalidations.isRemoved(account: account, sentAt: generation) else { return nil }
    response.id = id
    response.isInvalidated = response.isInvalidated || invalidations.isInvalidated(head.groups, sentAt: generation)
    return response
  }

  /// Removes an entry and its copy. Returns the entry.
  mutating func remove(_ id: UInt64) -> CacheIndex<CacheFolder.FileEntry>.Entry? {
    recent.remove(id)
    return index.remove(id)
  }

  /// Inserts an entry, unless another thread has just found its file.
  mutating func insert(_ key: CacheKey, size: Int64, _ entry: CacheFolder.FileEntry) {
    guard id(of: key, entry.serial) == nil else { return }
    index.insert(key, size: size, lastUse: entry.used) { _ in entry }
  }

  private func id(of key: CacheKey, _ serial: UInt64) -> UInt64? {
    var found: UInt64?
    index.forEach(under: key) { id, entry in if entry.serial == serial { found = id } }
    return found
  }

  /// Removes the entries that are not among those found, and returns those that the index does not contain.
  ///
  /// - Parameter last: the last entry of the index before the names were read. Later ones may be missing.
  mutating func merge(_ found: [EntryName], _ last: UInt64) -> [EntryName] {
    var seen: Set<UInt64> = []
    var unknown: [EntryName] = []
    for name in found {
      if let known = id(of: name.key, name.serial) { seen.insert(known) } else { unknown.append(name) }
    }
    if seen.count < index.count {
      for id in index.ids where id <= last && !seen.contains(id) { index.remove(id) }
    }
    index.reserve(index.count + unknown.count)
    return unknown
  }
}

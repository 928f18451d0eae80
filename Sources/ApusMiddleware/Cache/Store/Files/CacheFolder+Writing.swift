import ApusCore
import ApusFiles
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension CacheFolder {
  /// A complete file that does not have its name yet.
  private struct Prepared {
    let draft: String
    /// The open draft, whose lock shows that this process is alive.
    let file: Descriptor
    let name: EntryName
    let size: Int64
    /// The generation at which the request of the response was sent.
    let generation: UInt64
    /// The entry whose head is replaced. `nil`: a new entry.
    let replaced: UInt64?
  }

  // MARK: Responses

  /// Applies the effect of a response. See ``FolderStore/apply(_:content:under:at:)``.
  ///
  /// New files are written as drafts, and renamed while this process has the lock.
  func apply(_ update: CacheUpdate, content: Data?, under key: CacheKey, at origin: Origin) -> Bool {
    var drafts: [Prepared] = []
    if shared.isWritable {
      if let new = update.new.flatMap({ prepared($0, content, under: key, at: origin) }) { drafts.append(new) }
      drafts += update.freshened.compactMap { freshened($0, under: key, at: origin) }
    }
    let outdated = update.outdated.union(update.invalidated)
    guard !drafts.isEmpty || !outdated.isEmpty else { return false }
    let published: [String]? = locked { (shared) throws(FileError) in
      try publish(drafts, removing: outdated, under: key, &shared)
    }
    for draft in drafts where !(published?.contains(draft.draft) ?? false) { folder.remove(draft.draft) }
    return !(published?.isEmpty ?? true)
  }

  /// Writes the draft of a new entry. Returns `nil` if the response must not be stored, or if writing fails.
  private func prepared(
    _ response: StoredResponse, _ content: Data?, under key: CacheKey, at origin: Origin
  ) -> Prepared? {
    let groups = subjects.groups(response.groups, at: origin)
    let generation = response.exchange.generation
    var response = response
    if let content { response.contentLength = Int64(content.count) }
    let isRemoved = state.withLock { state in
      let isLate = state.invalidations.isInvalidated(target: key.target, sentAt: generation)
      response.isInvalidated =
        response.isInvalidated || isLate || state.invalidations.isInvalidated(groups, sentAt: generation)
      return state.invalidations.isRemoved(account: key.account, sentAt: generation)
    }
    // A response that must be validated but cannot be is never used.
    guard !isRemoved, !response.isInvalidated || response.hasValidator else { return nil }
    return draft(.new(key), EntryHead(response: response, groups: groups), content)
  }

  /// Writes the draft of an entry whose head has changed.
  private func freshened(_ response: StoredResponse, under key: CacheKey, at origin: Origin) -> Prepared? {
    let generation = response.exchange.generation
    let entry: CacheIndex<FileEntry>.Entry? = state.withLock { state in
      let isLate = state.invalidations.isInvalidated(target: key.target, sentAt: generation)
      return isLate ? nil : state.index[response.id]
    }
    guard let entry, entry.key == key, let found = load(entry.id, name(of: entry), completely: true) else { return nil }
    let head = EntryHead(response: response, groups: subjects.groups(response.groups, at: origin))
    return draft(.known(key, serial: entry.payload.serial), head, found.content, replacing: entry.id)
  }

  private func draft(
    _ name: EntryName, _ head: EntryHead, _ content: Data?, replacing replaced: UInt64? = nil
  ) -> Prepared? {
    guard let start = format.start(of: name.text(format.nameKey), head, content) else { return nil }
    let size = Int64(start.count) + Int64(content?.count ?? 0)
    guard size <= state.withLock({ $0.index.entryLimit }) else { return nil }
    let draft = Draft.name()
    do throws(FileError) {
      guard let file = try folder.make(draft) else { return nil }
      do throws(FileError) {
        _ = try file.lock()
        // The process's umask may have removed permissions.
        try file.setMode(0o600)
        try file.write(start, content)
        return Prepared(
          draft: draft, file: file, name: name, size: size, generation: head.response.exchange.generation,
          replaced: replaced)
      } catch {
        folder.remove(draft)
        throw error
      }
    } catch {
      return nil
    }
  }

  /// Renames drafts, and removes outdated entries. Returns the drafts that were renamed.
  private func publish(
    _ drafts: [Prepared], removing outdated: Set<UInt64>, under key: CacheKey, _ shared: inout SharedState
  ) throws(FileError) -> [String] {
    let added = drafts.reduce(0) { $0 + $1.size }
    let capacity = state.withLock { $0.index.capacity }
    if shared.usage + added > capacity {
      try evict(to: capacity / 8 * 7 - added)
      shared.usage = state.withLock { $0.index.usage }
    }
    shared.usage -= removeFiles(of: state.withLock { $0.remove(outdated, of: key) })
    let valid = drafts.filter { isValid($0, under: key) }
    let growth = valid.map { draft in
      draft.size - (draft.replaced.flatMap { id in state.withLock { $0.index[id]?.size } } ?? 0)
    }
    shared.usage = max(0, shared.usage + growth.reduce(0, +))
    noteChange(in: &shared)
    // A process that is killed now leaves too large a number, never too small a one.
    try self.shared.write(shared)
    let published = valid.map { publish($0) }
    // A process that opens the folder may take a draft for abandoned that has no lock yet.
    let lost = zip(growth, published).reduce(0) { $1.1 ? $0 : $0 + $1.0 }
    if lost != 0 {
      shared.usage = max(0, shared.usage - lost)
      try self.shared.write(shared)
    }
    return zip(valid, published).compactMap { $1 ? $0.draft : nil }
  }

  /// Whether a draft may still be published: another process may have removed the account, or the replaced entry.
  private func isValid(_ draft: Prepared, under key: CacheKey) -> Bool {
    let isKept = state.withLock { state in
      !state.invalidations.isRemoved(account: key.account, sentAt: draft.generation)
        && draft.replaced.map { state.index[$0] != nil } ?? true
    }
    guard isKept, draft.replaced != nil else { return isKept }
    return (try? folder.version(of: draft.name.text(format.nameKey))) != nil
  }

  private func publish(_ draft: Prepared) -> Bool {
    guard (try? folder.rename(draft.draft, to: draft.name.text(format.nameKey))) != nil else { return false }
    let now = clock()
    let entry = FileEntry(serial: draft.name.serial, touched: now, used: now)
    let variant: CacheIndex<FileEntry>.Entry? = state.withLock { state in
      if let replaced = draft.replaced {
        state.recent.remove(replaced)
        state.index.update(replaced, size: draft.size) { $0 = entry }
        state.index.use(replaced, at: now)
        return nil
      }
      state.insert(draft.name.key, size: draft.size, entry)
      return state.index.evictVariant(of: draft.name.key)
    }
    if let variant {
      let removed = removeFiles(of: [variant])
      state.withLock { $0.removedBytes += removed }
    }
    return true
  }

  // MARK: Space

  /// Removes the least recently used entries of all processes until the usage is at most a limit.
  private func evict(to limit: Int64) throws(FileError) {
    try scan()
    let entries = state.withLock { state in state.index.ids.compactMap { state.index[$0] } }
    for entry in entries {
      let version = try folder.version(of: name(of: entry))
      state.withLock { state in
        guard let version else {
          state.index.remove(entry.id)
          return
        }
        // Other processes may have used the entry, or replaced its head.
        let touched = max(version.modifiedMilliseconds, entry.payload.touched)
        state.index.update(entry.id, size: version.size) { $0.touched = touched }
        state.index.use(entry.id, at: max(touched, entry.payload.used))
      }
    }
    _ = removeFiles(of: state.withLock { $0.index.evict(to: limit) })
  }

  /// Removes the files of entries. Returns the number of bytes that were removed.
  func removeFiles(of entries: [CacheIndex<FileEntry>.Entry]) -> Int64 {
    entries.reduce(0) { folder.remove(name(of: $1)) ? $0 + $1.size : $0 }
  }
}

extension CacheFolder.State {
  /// Removes entries of a key. Returns them.
  fileprivate mutating func remove(
    _ ids: Set<UInt64>, of key: CacheKey
  ) -> [CacheIndex<CacheFolder.FileEntry>.Entry] {
    ids.filter { index[$0]?.key == key }.compactMap { index.remove($0) }
  }
}

extension Descriptor {
  /// Writes the start of an entry and its content.
  fileprivate func write(_ start: [UInt8], _ content: Data?) throws(FileError) {
    guard let content, content.count > 0 else { return try writeAll(start, at: 0) }
    // One system call writes a small entry.
    guard content.count > EntryFormat.smallSize else { return try writeAll(start + content, at: 0) }
    try writeAll(start, at: 0)
    let written = content.withUnsafeBytes { buffer in
      Result { () throws(FileError) in try write(buffer, at: Int64(start.count)) }
    }
    try written.get()
  }
}

import ApusFiles
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension CacheFolder {
  /// Returns the responses of a key, with the content of small files. Does not count as a use.
  func entries(for key: CacheKey) -> CacheEntries {
    refresh()
    scanIfOutdated()
    var candidates: [(id: UInt64, serial: UInt64)] = []
    state.withLock { state in
      state.index.forEach(under: key) { id, entry in candidates.append((id, entry.serial)) }
    }
    var entries = CacheEntries()
    for (id, serial) in candidates {
      let name = name(key, serial)
      guard let found = load(id, name, completely: false) else { continue }
      let response: StoredResponse? = state.withLock { state in
        guard let response = state.present(found.head, id, of: key.account) else { return nil }
        if found.isComplete, found.identity.size <= EntryFormat.smallSize {
          let copy = RecentEntries.Copy(
            head: found.head, content: found.content, name: name, identity: found.identity)
          state.recent.insert(copy, id)
        }
        return response
      }
      guard let response else {
        discard(id, name)
        continue
      }
      entries.append(CacheEntries(response, found.content))
    }
    return entries
  }

  /// Returns the responses of a key from copies in memory, if their files have not changed. `nil`: files must be read,
  /// which takes longer. Does not count as a use.
  ///
  /// Reads the shared state and examines each file: one call of the system each.
  func copies(for key: CacheKey) -> CacheEntries? {
    guard let shared = shared.read() else { return nil }
    var entries = CacheEntries()
    let copies: [RecentEntries.Copy]? = state.withLock { state in
      guard state.isCurrent(shared) else { return nil }
      var copies: [RecentEntries.Copy] = []
      var ids: [UInt64] = []
      state.index.forEach(under: key) { id, _ in ids.append(id) }
      for id in ids {
        guard let copy = state.recent.use(id), let response = state.present(copy.head, id, of: key.account) else {
          return nil
        }
        copies.append(copy)
        entries.append(CacheEntries(response, copy.content))
      }
      return copies
    }
    guard let copies else { return nil }
    for copy in copies { guard (try? folder.identity(of: copy.name)) == copy.identity else { return nil } }
    return entries
  }

  /// Reads the content of a response. `nil`: it has none, or the file was removed or damaged meanwhile.
  func content(of id: UInt64) -> Data? {
    guard let entry = state.withLock({ $0.index[id] }) else { return nil }
    return load(id, name(of: entry), completely: true)?.content
  }

  /// Reads the file of an entry. Removes the entry if the file is missing or damaged.
  func load(_ id: UInt64, _ name: String, completely: Bool) -> EntryFormat.Found? {
    do throws(FileError) {
      guard let file = try folder.existing(name, for: .reading, isPrivate: true) else {
        // Another process has removed it.
        state.withLock { _ = $0.remove(id) }
        return nil
      }
      if let found = try format.read(file, name, completely: completely) { return found }
      discard(id, name)
    } catch {
      // If the system has no free descriptor or no memory, the entry may be in order.
      if error.isForeign { discard(id, name) }
    }
    return nil
  }

  /// Removes an entry that cannot be used.
  func discard(_ id: UInt64, _ name: String) {
    // Only the thread that takes the entry out of the index counts its bytes.
    guard let entry = state.withLock({ $0.remove(id) }), folder.remove(name) else { return }
    state.withLock { $0.removedBytes += entry.size }
  }

  /// Records that an entry was used.
  ///
  /// - Returns: the name of a file whose modification time is more than a minute old, for ``Folder/touch(_:)``.
  func used(_ id: UInt64) -> String? {
    let now = clock()
    let entry: CacheIndex<FileEntry>.Entry? = state.withLock { state in
      state.index.use(id, at: now)
      guard let entry = state.index[id] else { return nil }
      let isDue = now.clampedMinus(entry.payload.touched) >= Self.touchInterval
      state.index.update(id) { $0 = FileEntry(serial: $0.serial, touched: isDue ? now : $0.touched, used: now) }
      return isDue ? entry : nil
    }
    return entry.map { name(of: $0) }
  }
}

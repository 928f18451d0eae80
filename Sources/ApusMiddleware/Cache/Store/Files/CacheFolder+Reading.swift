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
      guard let found = load(id, name(key, serial), completely: false) else { continue }
      var response = found.head.response
      let isInvalidated: Bool? = state.withLock { state in
        let generation = response.exchange.generation
        guard !state.invalidations.isRemoved(account: key.account, sentAt: generation) else { return nil }
        return state.invalidations.isInvalidated(found.head.groups, sentAt: generation)
      }
      guard let isInvalidated else {
        discard(id, name(key, serial))
        continue
      }
      response.id = id
      response.isInvalidated = response.isInvalidated || isInvalidated
      entries.append(CacheEntries(response, found.content))
    }
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
        state.withLock { _ = $0.index.remove(id) }
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
    guard let entry = state.withLock({ $0.index.remove(id) }), folder.remove(name) else { return }
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

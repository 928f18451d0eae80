import ApusFiles
import Synchronization

extension CacheFolder {
  /// Removes the entries of targets, and records changes for all processes.
  ///
  /// Targets concern the requests in flight of this process, and the entries of all processes.
  func invalidate(targets: [KeyedDigest], _ changes: [CacheInvalidations.Change]) {
    refresh()
    let concernsTargets = state.withLock { state in
      state.isOutdated || state.invalidations.hasFlights || targets.contains { state.index.contains(target: $0) }
    }
    guard !changes.isEmpty || (!targets.isEmpty && concernsTargets) else { return }
    let isShared: Void? = locked { (shared) throws(FileError) in
      try record(changes, targets: targets, &shared)
      try removeShared(&shared) { index in targets.flatMap { index.removeAll(ofTarget: $0) } }
    }
    guard isShared == nil else { return }
    recordUnshared(changes, targets: targets)
    removeUnshared { index in targets.flatMap { index.removeAll(ofTarget: $0) } }
  }

  /// Removes the entries whose keys meet a condition, of all processes, and records this. Responses to requests in
  /// flight are not stored.
  func remove(_ change: CacheInvalidations.Change, where isRemoved: @Sendable (CacheKey) -> Bool) {
    defer { removeCopies() }
    let isShared: Void? = locked { (shared) throws(FileError) in
      // A process that is killed between these two steps leaves entries that are not used any more.
      try record([change], &shared)
      try removeShared(&shared) { $0.removeAll(where: isRemoved) }
      guard change == .everything else { return }
      try scan(removesDrafts: true)
      shared.usage = 0
      try self.shared.write(shared)
    }
    guard isShared == nil else { return }
    recordUnshared([change])
    try? scan()
    removeUnshared { $0.removeAll(where: isRemoved) }
  }

  /// Removes the copies of entries in memory.
  func removeCopies() {
    state.withLock { $0.recent.removeAll() }
  }

  /// The number of bytes of the entries of all processes.
  var usage: Int64 {
    let removed = state.withLock { $0.removedBytes }
    return max(0, (shared.read()?.usage ?? 0) - removed)
  }

  // MARK: Records

  /// Records changes at the next generation, in the file and in memory.
  private func record(
    _ changes: [CacheInvalidations.Change], targets: [KeyedDigest] = [], _ shared: inout SharedState
  ) throws(FileError) {
    let generation = shared.generation + 1
    var next = shared
    next.generation = generation
    for change in changes {
      switch change {
      case .accounts: next.floors.accounts = generation
      case .everything: next.floors.everything = generation
      case .group, .account:
        raiseFloors(of: &next)
        try self.shared.write(SharedRecord(change, at: generation), next.records)
        next.records += 1
      }
    }
    try self.shared.write(next)
    shared = next
    state.withLock { state in
      state.invalidations.raise(next.floors)
      state.invalidations.record(changes, targets: targets, at: generation)
      state.records = next.records
    }
  }

  /// Raises the floors if the next record overwrites one that is still needed.
  private func raiseFloors(of shared: inout SharedState) {
    guard shared.records >= SharedRecord.capacity else { return }
    guard let oldest = self.shared.record(shared.records - SharedRecord.capacity) else {
      // A record was damaged. What it concerned is unknown.
      (shared.floors.groups, shared.floors.accounts) = (shared.generation, shared.generation)
      return
    }
    guard state.withLock({ $0.invalidations.isRecorded(oldest.change, at: oldest.generation) }) else { return }
    switch oldest.change {
    case .group: shared.floors.groups = max(shared.floors.groups, oldest.generation)
    default: shared.floors.accounts = max(shared.floors.accounts, oldest.generation)
    }
  }

  /// Records changes in memory, to be shared with other processes later.
  private func recordUnshared(_ changes: [CacheInvalidations.Change], targets: [KeyedDigest] = []) {
    state.withLock { state in
      state.invalidations.record(changes, targets: targets)
      for change in changes {
        switch change {
        case .group: state.unshared.groups = true
        case .account, .accounts, .everything: state.unshared.accounts = true
        }
      }
    }
  }

  // MARK: Entries

  private typealias Selection = @Sendable (inout CacheIndex<FileEntry>) -> [CacheIndex<FileEntry>.Entry]

  private func removeShared(_ shared: inout SharedState, _ select: Selection) throws(FileError) {
    if state.withLock({ $0.isOutdated }) { try scan() }
    let entries = state.withLock { select(&$0.index) }
    guard !entries.isEmpty else { return }
    shared.usage = max(0, shared.usage - removeFiles(of: entries))
    noteChange(in: &shared)
    try self.shared.write(shared)
  }

  private func removeUnshared(_ select: Selection) {
    let entries = state.withLock { select(&$0.index) }
    let removed = removeFiles(of: entries)
    state.withLock { $0.removedBytes += removed }
  }
}

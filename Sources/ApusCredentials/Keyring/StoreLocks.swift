#if os(Linux)
import ApusFiles
import ApusMiddleware

/// The locks of a store whose content is not in a file: between the tasks of this object, and between processes.
///
/// The store has a folder of its own with the files `lease` and `write`, which are empty. Each could be removed by
/// another program while its lock is held, and created again by the next process. So a lease also locks that folder,
/// and a write its parent.
struct StoreLocks: Sendable {
  private let place: FilePath
  private let pause: FileLock.Pause
  private let writes = AsyncMutex()
  private let leases = AsyncMutex()

  /// - Parameter folder: the path of the store's folder.
  init(_ folder: String, _ clocks: Clocks) {
    place = FilePath(folder + "/lease")
    pause = clocks.pause
  }

  /// Does work while no other task or process writes.
  func withWrite<Value: Sendable>(_ work: () throws -> Value) async throws -> Value {
    try await writes.withLock {
      let locks = try await take { own, outer in try await FileLocks.take("write", in: own, and: outer, pause) }
      defer { locks.release() }
      return try work()
    }
  }

  /// Does work while no other task or process refreshes.
  func withLease(_ work: () async throws -> Void) async throws {
    try await leases.withLock {
      let locks = try await take { own, _ in try await FileLocks.take(place.name, in: own, and: own, pause) }
      defer { locks.release() }
      try await work()
    }
  }

  // Off the caller's actor, like everything that waits for the disk.
  @concurrent
  private func take(_ locks: @Sendable (_ own: Folder, _ outer: Folder) async throws -> FileLocks) async throws
    -> FileLocks
  {
    try await CredentialsStoreError.converting {
      let outer = try FilePath(place.folder).makeFolder()
      try outer.checkIsPrivate()
      let own = try place.makeFolder()
      try own.checkIsPrivate()
      return try await locks(own, outer)
    }
  }
}
#endif

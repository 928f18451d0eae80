#if os(Linux)
import ApusFiles
import ApusMiddleware

/// The locks of a store whose content is not in a file: between the tasks of this object, and between processes.
///
/// The store's folder contains the empty files `lease` and `write`. Another program could remove such a file while its
/// lock is held, and the next process would create and lock a new file. So a lease also locks the folder, and a write
/// also locks the folder's parent.
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

  /// Performs an operation while no other task or process writes.
  func withWrite<Value: Sendable>(_ work: () throws -> Value) async throws -> Value {
    try await writes.withLock {
      let locks = try await acquire { own, outer in try await FileLocks.acquire("write", in: own, and: outer, pause) }
      defer { locks.release() }
      return try work()
    }
  }

  /// Performs an operation while no other task or process refreshes.
  func withLease(_ work: () async throws -> Void) async throws {
    try await leases.withLock {
      let locks = try await acquire { own, _ in try await FileLocks.acquire(place.name, in: own, and: own, pause) }
      defer { locks.release() }
      try await work()
    }
  }

  // Concurrent, so that the caller's actor does not wait for the disk.
  @concurrent
  private func acquire(_ locks: @Sendable (_ own: Folder, _ outer: Folder) async throws -> FileLocks) async throws
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

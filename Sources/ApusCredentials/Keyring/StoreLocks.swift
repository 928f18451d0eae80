#if Credentials
#if os(Linux)
import ApusCore
import ApusMiddleware

/// The locks of a store whose content is not in a file: between the tasks of this object, and between processes.
struct StoreLocks: Sendable {
  private let place: FilePlace
  private let clock: any MonotonicClock
  private let writes = AsyncMutex()
  private let leases = AsyncMutex()

  /// - Parameter place: the path from whose name those of the lock files are made. There is no file with that name.
  init(_ place: FilePlace, _ clock: any MonotonicClock) {
    self.place = place
    self.clock = clock
  }

  /// Does work while no other task or process writes.
  func withWrite<Value: Sendable>(_ work: () throws -> Value) async throws -> Value {
    try await writes.withLock {
      let locks = try await take { try await FileLocks.forWrite(place, in: $0, clock) }
      defer { locks.release() }
      return try work()
    }
  }

  /// Does work while no other task or process refreshes.
  func withLease(_ work: () async throws -> Void) async throws {
    try await leases.withLock {
      let locks = try await take { try await FileLocks.forRefresh(place, in: $0, clock) }
      defer { locks.release() }
      try await work()
    }
  }

  // Off the caller's actor, like everything that waits for the disk.
  @concurrent
  private func take(_ locks: @Sendable (Folder) async throws -> FileLocks) async throws -> FileLocks {
    let folder = try place.makeFolder()
    try folder.check()
    return try await locks(folder)
  }
}
#endif
#endif

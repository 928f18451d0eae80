import ApusCore

/// The locks of one operation on a store. They are taken in order.
///
/// Their files could be removed by another program while they are held, and created again by the next process. So each
/// operation also locks what a removal cannot replace.
struct FileLocks: Sendable {
  private let held: [FileLock]

  /// Takes the lock of a write, which lasts a few milliseconds.
  ///
  /// The folder is locked as well: writes of all stores in the folder exclude each other.
  static func forWrite(_ place: FilePlace, in folder: Folder, _ clock: any MonotonicClock) async throws -> FileLocks {
    try await take(place.lockName, in: folder, and: folder, clock)
  }

  /// Takes the lock of a file and that of a folder.
  static func take(
    _ file: String, in folder: Folder, and other: Folder, _ clock: any MonotonicClock
  ) async throws -> FileLocks {
    let lock = try await FileLock.take(file, in: folder, clock)
    return try await lock.followed { try await FileLock.take(other, clock) }
  }

  /// Takes the lease, which lasts as long as a refresh.
  ///
  /// The file with the credentials is locked as well, if there is one. A write replaces that file, and with it the
  /// generation: a process that locks the new file refreshes other credentials.
  static func forRefresh(_ place: FilePlace, in folder: Folder, _ clock: any MonotonicClock) async throws -> FileLocks {
    let lock = try await FileLock.take(place.leaseName, in: folder, clock)
    return try await lock.followed { try await FileLock.takeContent(place.name, in: folder, clock) }
  }

  fileprivate init(_ held: [FileLock]) {
    self.held = held
  }

  /// Releases the locks.
  func release() {
    for lock in held.reversed() { lock.release() }
  }
}

extension FileLock {
  /// Takes another lock; releases this one if that fails.
  fileprivate func followed(by next: () async throws -> FileLock?) async throws -> FileLocks {
    do {
      return FileLocks([self] + [try await next()].compactMap { $0 })
    } catch {
      release()
      throw error
    }
  }
}

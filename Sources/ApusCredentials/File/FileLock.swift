import ApusCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A lock between processes (`flock`). The system releases the lock of a process that dies.
///
/// Its file is never removed here. If another program removes it, waiters notice that when they get the lock, and
/// then wait for the lock of the new file with that name; the holder does not notice. See ``FileLocks``.
struct FileLock: Sendable {
  private let descriptor: Descriptor

  /// Waits for the lock.
  ///
  /// - Parameters:
  ///   - name: the name of the lock file.
  ///   - clock: times the delays between attempts: 5 ms, doubled each time, up to 100 ms.
  /// - Throws: `CancellationError` when the task is cancelled while it waits.
  static func take(_ name: String, in folder: Folder, _ clock: any MonotonicClock) async throws -> FileLock {
    try await poll(clock, until: folder.lockable(name)) { descriptor throws(FileCredentialsStoreError) in
      guard try isTaken(descriptor, name) else { return .taken }
      if try folder.has(descriptor, as: name) { return .free(FileLock(descriptor: descriptor)) }
      descriptor = try folder.lockable(name)
      return .again
    }
  }

  /// The errors of file systems that cannot lock folders, or files that are open for reading only, such as NFS.
  private static let unsupported = [EOPNOTSUPP, EINVAL, EBADF, ENOLCK]

  /// Waits for the lock of a folder; `nil`: the file system has no such locks.
  static func take(_ folder: Folder, _ clock: any MonotonicClock) async throws -> FileLock? {
    try await supported {
      try await poll(clock, until: folder.descriptor) { descriptor throws(FileCredentialsStoreError) in
        try isTaken(descriptor, "the folder") ? .free(FileLock(descriptor: descriptor)) : .taken
      }
    }
  }

  private static func supported(_ lock: () async throws -> FileLock?) async throws -> FileLock? {
    do {
      return try await lock()
    } catch let error as FileCredentialsStoreError where error.errno.map({ unsupported.contains($0) }) ?? false {
      return nil
    }
  }

  /// Waits for the lock of a file with credentials, which is replaced and not changed; `nil`: there is no file, or the
  /// file system has no such locks.
  ///
  /// - Throws: as ``take(_:in:_:)``.
  static func takeContent(_ name: String, in folder: Folder, _ clock: any MonotonicClock) async throws -> FileLock? {
    try await supported {
      try await poll(clock, until: folder.present(name)) { descriptor throws(FileCredentialsStoreError) in
        guard let opened = descriptor else { return .free(nil) }
        let isFree = try isTaken(opened, name)
        if try folder.has(opened, as: name) { return isFree ? .free(FileLock(descriptor: opened)) : .taken }
        // The file was replaced, perhaps while the holder of its lock goes on.
        descriptor = try folder.present(name)
        return .again
      }
    }
  }

  /// The result of an attempt.
  private enum Attempt<Value> {
    case free(Value)
    /// Another process has the lock.
    case taken
    /// The file was replaced, and another one is open now.
    case again
  }

  private static func poll<State, Value>(
    _ clock: any MonotonicClock, until state: State,
    _ attempt: (inout State) throws(FileCredentialsStoreError) -> Attempt<Value>
  ) async throws -> Value {
    var state = state
    var pause = Duration.milliseconds(5)
    while true {
      switch try attempt(&state) {
      case .free(let value): return value
      case .again: continue
      case .taken: break
      }
      try await clock.sleep(until: clock.now.advanced(by: pause))
      pause = min(pause * 2, .milliseconds(100))
    }
  }

  /// Tries to take the lock once. Returns whether it was free.
  private static func isTaken(_ descriptor: Descriptor, _ name: String) throws(FileCredentialsStoreError) -> Bool {
    do throws(FileCredentialsStoreError) {
      try Descriptor.call("locked", name) { flock(descriptor.number, LOCK_EX | LOCK_NB) }
      return true
    } catch {
      guard error.errno == EWOULDBLOCK else { throw error }
      return false
    }
  }

  /// Releases the lock. Closing the file would not release it while a child process that is about to start has the
  /// file open, too.
  func release() {
    flock(descriptor.number, LOCK_UN)
  }
}

/// The identity and version of a file.
///
/// It is meaningful while the file is held open, so that its inode number is not reused.
struct FileIdentity: Hashable, Sendable {
  private let device: UInt64
  private let number: UInt64
  private let size: Int64
  private let seconds: Int64
  private let nanoseconds: Int64
  private let owner: UInt32
  private let mode: UInt32

  init(_ status: stat) {
    device = UInt64(truncatingIfNeeded: status.st_dev)
    number = UInt64(truncatingIfNeeded: status.st_ino)
    size = Int64(status.st_size)
    #if canImport(Darwin)
    let change = status.st_mtimespec
    #else
    let change = status.st_mtim
    #endif
    seconds = Int64(change.tv_sec)
    nanoseconds = Int64(change.tv_nsec)
    owner = UInt32(status.st_uid)
    mode = UInt32(status.st_mode)
  }
}

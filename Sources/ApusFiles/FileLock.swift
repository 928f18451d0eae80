#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A lock between tasks and processes (`flock`). The system releases the lock of a process that dies.
///
/// If another program removes the lock file, a waiting task detects this when it acquires the lock, and then waits for
/// the lock of the new file with that name. The task that holds the lock does not detect the removal. See
/// ``FileLocks``.
package struct FileLock: Sendable {
  /// A function that waits between two attempts.
  package typealias Pause = @Sendable (Duration) async throws -> Void

  private let descriptor: Descriptor

  /// Acquires the lock if it is free.
  ///
  /// - Returns: `nil` if another task or process has the lock.
  package static func acquireIfFree(_ name: String, in folder: Folder) throws(FileError) -> FileLock? {
    // Another round is needed only if another process has just removed the file, so a few rounds suffice.
    for _ in 0..<16 {
      let opened = try folder.opened(name, isPrivate: false)
      guard try opened.lock() else { return nil }
      if try folder.has(opened, as: name) { return FileLock(descriptor: opened) }
      opened.unlock()
    }
    return nil
  }

  /// Waits for the lock of a private file, which is created if it is missing.
  ///
  /// - Parameters:
  ///   - name: the name of the lock file.
  ///   - pause: waits between attempts: 5 ms, doubled each time, up to 100 ms.
  /// - Throws: ``FileError``; the error of `pause`.
  package static func acquire(_ name: String, in folder: Folder, _ pause: Pause) async throws -> FileLock {
    try await poll(pause, until: folder.opened(name, isPrivate: true)) { descriptor throws(FileError) in
      guard try descriptor.lock() else { return .busy }
      if try folder.has(descriptor, as: name) { return .free(FileLock(descriptor: descriptor)) }
      descriptor = try folder.opened(name, isPrivate: true)
      return .retry
    }
  }

  /// Waits for the lock of a folder. Returns `nil` if the file system has no such locks.
  package static func acquire(_ folder: Folder, _ pause: Pause) async throws -> FileLock? {
    try await supported {
      try await poll(pause, until: folder.descriptor) { descriptor throws(FileError) in
        try descriptor.lock() ? .free(FileLock(descriptor: descriptor)) : .busy
      }
    }
  }

  /// Waits for the lock of a private file that is only ever replaced, never changed. Returns `nil` if the file does not
  /// exist, or if the file system has no such locks.
  ///
  /// - Throws: the same errors as ``acquire(_:in:_:)``.
  package static func acquireContent(_ name: String, in folder: Folder, _ pause: Pause) async throws -> FileLock? {
    let open = { () throws(FileError) in try folder.existing(name, for: .reading, isPrivate: true) }
    return try await supported {
      try await poll(pause, until: open()) { descriptor throws(FileError) in
        guard let opened = descriptor else { return .free(nil) }
        let isFree = try opened.lock()
        if try folder.has(opened, as: name) { return isFree ? .free(FileLock(descriptor: opened)) : .busy }
        // The file was replaced, perhaps while the owner of its lock is still working.
        descriptor = try open()
        return .retry
      }
    }
  }

  /// The errors of file systems, such as NFS, that cannot lock folders or files that are open for reading only.
  private static let unsupported = [EOPNOTSUPP, EINVAL, EBADF, ENOLCK]

  private static func supported(_ lock: () async throws -> FileLock?) async throws -> FileLock? {
    do {
      return try await lock()
    } catch let error as FileError where error.number.map({ unsupported.contains($0) }) ?? false {
      return nil
    }
  }

  /// The result of an attempt.
  private enum Attempt<Value> {
    case free(Value)
    /// Another process has the lock.
    case busy
    /// The file was replaced, and the new file is open now.
    case retry
  }

  private static func poll<State, Value>(
    _ pause: Pause, until state: State, _ attempt: (inout State) throws(FileError) -> Attempt<Value>
  ) async throws -> Value {
    var state = state
    var delay = Duration.milliseconds(5)
    while true {
      switch try attempt(&state) {
      case .free(let value): return value
      case .retry: continue
      case .busy: break
      }
      try await pause(delay)
      delay = min(delay * 2, .milliseconds(100))
    }
  }

  /// Releases the lock.
  package func release() {
    descriptor.unlock()
  }
}

/// The locks of one operation, acquired in order.
///
/// Another program could remove a lock file while the lock is held, and the next process would create a new file and
/// lock it. So each operation also locks a file or folder that a removal does not affect.
package struct FileLocks: Sendable {
  private let held: [FileLock]

  /// Acquires a second lock after the first. If the second lock cannot be acquired, releases the first.
  package init(_ first: FileLock, and next: () async throws -> FileLock?) async throws {
    do {
      held = [first] + [try await next()].compactMap { $0 }
    } catch {
      first.release()
      throw error
    }
  }

  /// Acquires the locks of a file and of a folder.
  package static func acquire(
    _ file: String, in folder: Folder, and other: Folder, _ pause: FileLock.Pause
  ) async throws -> FileLocks {
    try await FileLocks(FileLock.acquire(file, in: folder, pause)) { try await FileLock.acquire(other, pause) }
  }

  /// Releases the locks.
  package func release() {
    for lock in held.reversed() { lock.release() }
  }
}

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A lock between tasks and processes (`flock`). The system releases the lock of a process that dies.
///
/// If another program removes the lock file, waiters notice that when they get the lock, and then wait for the lock of
/// the new file with that name; the holder does not notice. See ``FileLocks``.
package struct FileLock: Sendable {
  /// A function that waits between two attempts.
  package typealias Pause = @Sendable (Duration) async throws -> Void

  private let descriptor: Descriptor

  /// Takes the lock if it is free.
  ///
  /// - Returns: `nil` if another task or process has the lock.
  package static func takeIfFree(_ name: String, in folder: Folder) throws(FileError) -> FileLock? {
    // A few rounds at most: each one means that another process has just removed the file.
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
  package static func take(_ name: String, in folder: Folder, _ pause: Pause) async throws -> FileLock {
    try await poll(pause, until: folder.opened(name, isPrivate: true)) { descriptor throws(FileError) in
      guard try descriptor.lock() else { return .taken }
      if try folder.has(descriptor, as: name) { return .free(FileLock(descriptor: descriptor)) }
      descriptor = try folder.opened(name, isPrivate: true)
      return .again
    }
  }

  /// Waits for the lock of a folder; `nil`: the file system has no such locks.
  package static func take(_ folder: Folder, _ pause: Pause) async throws -> FileLock? {
    try await supported {
      try await poll(pause, until: folder.descriptor) { descriptor throws(FileError) in
        try descriptor.lock() ? .free(FileLock(descriptor: descriptor)) : .taken
      }
    }
  }

  /// Waits for the lock of a private file that is replaced and not changed; `nil`: there is no file, or the file system
  /// has no such locks.
  ///
  /// - Throws: as ``take(_:in:_:)``.
  package static func takeContent(_ name: String, in folder: Folder, _ pause: Pause) async throws -> FileLock? {
    let open = { () throws(FileError) in try folder.existing(name, for: .reading, isPrivate: true) }
    return try await supported {
      try await poll(pause, until: open()) { descriptor throws(FileError) in
        guard let opened = descriptor else { return .free(nil) }
        let isFree = try opened.lock()
        if try folder.has(opened, as: name) { return isFree ? .free(FileLock(descriptor: opened)) : .taken }
        // The file was replaced, perhaps while the holder of its lock goes on.
        descriptor = try open()
        return .again
      }
    }
  }

  /// The errors of file systems that cannot lock folders, or files that are open for reading only, such as NFS.
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
    case taken
    /// The file was replaced, and another one is open now.
    case again
  }

  private static func poll<State, Value>(
    _ pause: Pause, until state: State, _ attempt: (inout State) throws(FileError) -> Attempt<Value>
  ) async throws -> Value {
    var state = state
    var delay = Duration.milliseconds(5)
    while true {
      switch try attempt(&state) {
      case .free(let value): return value
      case .again: continue
      case .taken: break
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

/// The locks of one operation. They are taken in order.
///
/// Their files could be removed by another program while they are held, and created again by the next process. So each
/// operation also locks what a removal cannot replace.
package struct FileLocks: Sendable {
  private let held: [FileLock]

  /// Takes a lock after another, which is released if that fails.
  package init(_ first: FileLock, and next: () async throws -> FileLock?) async throws {
    do {
      held = [first] + [try await next()].compactMap { $0 }
    } catch {
      first.release()
      throw error
    }
  }

  /// Takes the lock of a file and that of a folder.
  package static func take(
    _ file: String, in folder: Folder, and other: Folder, _ pause: FileLock.Pause
  ) async throws -> FileLocks {
    try await FileLocks(FileLock.take(file, in: folder, pause)) { try await FileLock.take(other, pause) }
  }

  /// Releases the locks.
  package func release() {
    for lock in held.reversed() { lock.release() }
  }
}

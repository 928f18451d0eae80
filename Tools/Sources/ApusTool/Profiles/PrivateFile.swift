import Foundation

/// Functions for files and folders that only their owner can access.
enum PrivateFile {
  /// Creates a folder and its missing parents. An existing folder is not changed, and is rejected if other users can
  /// access it, because it may be shared deliberately.
  ///
  /// - Throws: ``ProfileError/openFolder(_:)``, ``ProfileError/foreignFolder(_:)``; ``OutputError``
  static func makeFolder(_ path: String) throws {
    if try make(path) { return }
    var facts = stat()
    guard stat(path, &facts) == 0 else { throw OutputError(place: path, number: errno) }
    guard facts.st_mode & S_IFMT == S_IFDIR else { throw OutputError(place: path, number: ENOTDIR) }
    if let error = refusal(of: path, mode: facts.st_mode, owner: facts.st_uid) { throw error }
  }

  /// Returns the reason why an existing folder is unsuitable for secrets; `nil` if it is suitable.
  static func refusal(of path: String, mode: mode_t, owner: uid_t, to user: uid_t = geteuid()) -> ProfileError? {
    if owner != user { return .foreignFolder(path) }
    return mode & 0o077 == 0 ? nil : .openFolder(path)
  }

  /// - Returns: whether the folder was created; `false` if the name exists.
  private static func make(_ path: String) throws(OutputError) -> Bool {
    var number = tryToMake(path)
    if number == ENOENT, let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash != path.startIndex {
      _ = try make(String(path[..<slash]))
      number = tryToMake(path)
    }
    guard number == 0 || number == EEXIST else { throw OutputError(place: path, number: number) }
    return number == 0
  }

  /// - Returns: 0, or the system's error number.
  private static func tryToMake(_ path: String) -> Int32 {
    // The process's umask may have removed bits.
    mkdir(path, 0o700) == 0 && chmod(path, 0o700) == 0 ? 0 : errno
  }

  /// Flushes the entries of a folder to the disk.
  ///
  /// - Throws: ``OutputError``
  static func flush(_ path: String) throws(OutputError) {
    let descriptor = Descriptor.open(path, O_RDONLY | O_DIRECTORY)
    guard descriptor >= 0 else { throw OutputError(place: path, number: errno) }
    let number = flush(descriptor)
    close(descriptor)
    guard number == 0 else { throw OutputError(place: path, number: number) }
  }

  /// - Returns: 0, or the system's error number.
  private static func flush(_ descriptor: Int32) -> Int32 {
    #if canImport(Darwin)
    // On Apple platforms fsync leaves data in the disk's cache.
    if fcntl(descriptor, F_FULLFSYNC) != -1 { return 0 }
    #endif
    return fsync(descriptor) == 0 ? 0 : errno
  }

  /// Replaces a file atomically. Must not be called concurrently for the same file.
  ///
  /// - Throws: ``OutputError``; the previous file is unchanged then.
  static func write(_ bytes: Data, to path: String) throws(OutputError) {
    let part = path + ".part"
    // An interrupted process may have left the file.
    try remove(part)
    let descriptor = Descriptor.open(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
    guard descriptor >= 0 else { throw OutputError(place: path, number: errno) }
    var failure: OutputError?
    if case .failure(let error) = Descriptor.write(bytes, to: descriptor, place: path) { failure = error }
    // The file is flushed before the rename, so that a power failure does not leave an empty file.
    if failure == nil, case let number = flush(descriptor), number != 0 {
      failure = OutputError(place: path, number: number)
    }
    close(descriptor)
    if failure == nil, rename(part, path) != 0 { failure = OutputError(place: path, number: errno) }
    guard let failure else { return }
    unlink(part)
    throw failure
  }

  /// Removes a file, if it exists.
  ///
  /// - Throws: ``OutputError``
  static func remove(_ path: String) throws(OutputError) {
    guard unlink(path) == 0 || errno == ENOENT else { throw OutputError(place: path, number: errno) }
  }

  /// Removes a folder and its files, if it exists.
  ///
  /// - Throws: ``OutputError``
  static func removeFolder(_ path: String) throws(OutputError) {
    for file in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] { try remove("\(path)/\(file)") }
    guard rmdir(path) == 0 || errno == ENOENT else { throw OutputError(place: path, number: errno) }
  }

  /// Returns the names in a folder; an empty list if it does not exist.
  ///
  /// - Throws: ``InputError``
  static func names(in path: String) throws(InputError) -> [String] {
    guard access(path, R_OK | X_OK) == 0 else {
      let number = errno
      if number == ENOENT { return [] }
      throw InputError(place: path, number: number)
    }
    do {
      return try FileManager.default.contentsOfDirectory(atPath: path)
    } catch {
      throw InputError(place: path, reason: "it is not a folder")
    }
  }

  /// Whether a path exists.
  static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }
}

/// An exclusive lock on changes of a folder, between processes and within one. The system releases it when the process
/// ends.
final class FolderLock: Sendable {
  private let descriptor: Int32

  /// Acquires the lock, on a thread that may block.
  ///
  /// - Parameter path: the lock file; created if missing, never removed.
  /// - Throws: ``OutputError``; `CancellationError` immediately when the task is cancelled.
  static func acquired(_ path: String) async throws -> FolderLock {
    try await Blocking("lock").runUnlessCancelled {
      Result { () throws(OutputError) in try FolderLock(path) }
    }.get()
  }

  private init(_ path: String) throws(OutputError) {
    descriptor = Descriptor.open(path, O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o600)
    guard descriptor >= 0 else { throw OutputError(place: path, number: errno) }
    while flock(descriptor, LOCK_EX) != 0 {
      let number = errno
      guard number == EINTR else { throw OutputError(place: path, number: number) }
    }
  }

  /// Releases the lock.
  func release() {
    flock(descriptor, LOCK_UN)
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }
}

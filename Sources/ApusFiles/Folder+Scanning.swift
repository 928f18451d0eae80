#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

extension Folder {
  /// Calls a function with the name of each file in the folder. The bytes are valid during the call only.
  ///
  /// Files that are created or removed meanwhile may be missing.
  package func forEachName(_ body: (UnsafeRawBufferPointer) -> Void) throws(FileError) {
    // The stream owns its descriptor.
    let copy = try systemCall("read", descriptor.name) {
      openat(descriptor.number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    }
    guard let stream = fdopendir(copy) else {
      let number = errno
      close(copy)
      throw FileError(.system(number), "read", descriptor.name)
    }
    defer { closedir(stream) }
    while let entry = readdir(stream) {
      withUnsafeBytes(of: &entry.pointee.d_name) { name in
        body(UnsafeRawBufferPointer(rebasing: name.prefix(while: { $0 != 0 })))
      }
    }
  }

  /// Returns the version of a regular file without opening it. `nil`: there is no regular file with the name.
  package func version(of file: String) throws(FileError) -> FileVersion? {
    try status(of: file).map { FileVersion($0) }
  }

  /// Returns the identity of a regular file without opening it. `nil`: there is no regular file with the name.
  package func identity(of file: String) throws(FileError) -> FileIdentity? {
    try status(of: file).map { FileIdentity($0) }
  }

  private func status(of file: String) throws(FileError) -> stat? {
    var status = stat()
    do throws(FileError) {
      try systemCall("examined", file) { fstatat(descriptor.number, file, &status, AT_SYMLINK_NOFOLLOW) }
    } catch {
      guard error.number == ENOENT else { throw error }
      return nil
    }
    return status.st_mode & S_IFMT == S_IFREG ? status : nil
  }

  /// Sets the modification time of a file to the current time. Does nothing if that is impossible.
  package func touch(_ file: String) {
    _ = utimensat(descriptor.number, file, nil, AT_SYMLINK_NOFOLLOW)
  }
}

extension FileVersion {
  /// The time of the last modification, in milliseconds since 1970.
  package var modifiedMilliseconds: Int64 { modifiedSeconds * 1000 + modifiedNanoseconds / 1_000_000 }
}

extension FileError {
  /// Returns the error of a file that other processes keep creating and removing.
  package static func unstable(_ name: String) -> FileError { FileError(.system(EAGAIN), "opened", name) }

  /// Whether the file is none that this program has made: of another kind or owner, or accessible to others.
  package var isForeign: Bool { number == nil }
  /// Whether the file system, or its permissions, allow no changes.
  package var isReadOnly: Bool { number == EROFS || number == EACCES || number == EPERM }
}

extension Descriptor {
  /// Acquires the lock of the file, and waits for it, at most a short time. Blocks the thread.
  ///
  /// - Parameter milliseconds: the maximum time.
  /// - Returns: whether the lock was acquired. `false`: another process keeps it for longer.
  package func lock(within milliseconds: Int) throws(FileError) -> Bool {
    var waited = 0
    while true {
      if try lock() { return true }
      guard waited < milliseconds else { return false }
      // A lock is usually held for less than a millisecond.
      var pause = timespec(tv_sec: 0, tv_nsec: 1_000_000)
      nanosleep(&pause, nil)
      waited += 1
    }
  }
}

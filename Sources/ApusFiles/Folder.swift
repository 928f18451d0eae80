#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// An open folder. Files are opened relative to the folder's descriptor, so that replacing the folder has no effect.
package struct Folder: Sendable {
  /// The kind of the file with a name, determined without opening the file.
  package enum Kind: Hashable {
    case nothing
    case file
    case folder
    /// A link, a pipe, a socket or a device.
    case special
  }

  /// The access with which a file is opened.
  package enum Access {
    case reading
    case writing
  }

  package let descriptor: Descriptor

  package init(_ path: String) throws(FileError) {
    descriptor = try Descriptor(FilePath(path).name) { open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
  }

  /// Opens a folder. Returns `nil` if the folder does not exist.
  package static func existing(_ path: String) throws(FileError) -> Folder? {
    do throws(FileError) {
      return try Folder(path)
    } catch {
      guard error.number == ENOENT else { throw error }
      return nil
    }
  }

  // MARK: Files

  package func kind(of file: String) throws(FileError) -> Kind {
    var status = stat()
    do throws(FileError) {
      try systemCall("examined", file) { fstatat(descriptor.number, file, &status, AT_SYMLINK_NOFOLLOW) }
    } catch {
      guard error.number == ENOENT else { throw error }
      return .nothing
    }
    switch status.st_mode & S_IFMT {
    case S_IFREG: return .file
    case S_IFDIR: return .folder
    default: return .special
    }
  }

  /// Opens a file of this user. Returns `nil` if the file does not exist.
  ///
  /// - Parameter isPrivate: whether a file that other users can access is refused.
  /// - Throws: ``FileError``, also for a link, a special file and a file of another user.
  package func existing(_ file: String, for access: Access, isPrivate: Bool) throws(FileError) -> Descriptor? {
    let opened: Descriptor
    do throws(FileError) {
      // `O_NONBLOCK`: opening a pipe must not block.
      let flags = (access == .reading ? O_RDONLY : O_RDWR) | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
      opened = try Descriptor(file) { openat(descriptor.number, file, flags) }
    } catch {
      switch error.number {
      case ENOENT: return nil
      // The file is a link or a folder.
      case ELOOP, EISDIR: throw FileError(.notAFile, "opened", file)
      default: throw error
      }
    }
    try opened.check(S_IFREG, isPrivate: isPrivate)
    return opened
  }

  /// Creates a file for reading and writing. Returns `nil` if the file exists.
  ///
  /// - Parameter mode: the permissions. The process's umask may remove some of them. Default: only the owner has
  ///   access.
  package func make(_ file: String, mode: UInt32 = 0o600) throws(FileError) -> Descriptor? {
    do throws(FileError) {
      let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
      return try Descriptor(file) { openat(descriptor.number, file, flags, mode_t(mode)) }
    } catch {
      guard error.number == EEXIST else { throw error }
      return nil
    }
  }

  /// Opens a file of this user for writing. If the file is missing, creates it with access for its owner only.
  ///
  /// - Throws: the same errors as ``existing(_:for:isPrivate:)``; `EAGAIN` if other processes keep creating and
  ///   removing it.
  package func opened(_ file: String, isPrivate: Bool) throws(FileError) -> Descriptor {
    // Another round is needed only if another process has just created or removed the file, so a few rounds suffice.
    for _ in 0..<16 {
      if let existing = try existing(file, for: .writing, isPrivate: isPrivate) { return existing }
      guard let made = try make(file) else { continue }
      if isPrivate { try made.check(S_IFREG, isPrivate: true) }
      return made
    }
    throw FileError(.system(EAGAIN), "opened", file)
  }

  /// Creates a file and writes its content; the file must not exist. When this returns, the content is on the disk.
  ///
  /// - Parameter reached: called when the file exists and is empty.
  package func make(
    _ file: String, with bytes: [UInt8], _ reached: () throws -> Void = {}
  ) throws -> Descriptor {
    guard let made = try make(file) else { throw FileError(.system(EEXIST), "opened", file) }
    do {
      // The process's umask may have removed permissions, and the folder's default permissions may have added some.
      try made.setMode(0o600)
      try reached()
      try made.write(bytes)
      try made.sync()
    } catch {
      remove(file)
      throw error
    }
    return made
  }

  /// Whether an open file still has its name. The file may have been removed, and another file created with the name.
  package func has(_ opened: Descriptor, as file: String) throws(FileError) -> Bool {
    let status = try opened.status()
    var named = stat()
    guard fstatat(descriptor.number, file, &named, AT_SYMLINK_NOFOLLOW) == 0 else { return false }
    return named.st_dev == status.st_dev && named.st_ino == status.st_ino
  }

  /// Gives a file a second name. Returns whether the name was free.
  package func link(_ file: String, as second: String) throws(FileError) -> Bool {
    do throws(FileError) {
      try systemCall("put in place", second) { linkat(descriptor.number, file, descriptor.number, second, 0) }
      return true
    } catch {
      guard error.number == EEXIST else { throw error }
      return false
    }
  }

  /// Renames a file atomically, over any other file with the new name.
  package func rename(_ file: String, to other: String) throws(FileError) {
    try systemCall("replaced", other) { renameat(descriptor.number, file, descriptor.number, other) }
  }

  /// Renames a file atomically, unless the new name is taken. Returns whether the name was free.
  package func renameExclusively(_ file: String, to other: String) throws(FileError) -> Bool {
    do throws(FileError) {
      guard try link(file, as: other) else { return false }
      remove(file)
    } catch {
      guard [EPERM, ENOTSUP, EOPNOTSUPP, ENOSYS, EMLINK].contains(error.number) else { throw error }
      // The file system has no hard links. Another program may create the file between the two calls.
      guard try kind(of: other) == .nothing else { return false }
      try rename(file, to: other)
    }
    return true
  }

  /// Removes a file if it exists. Returns whether it was removed.
  @discardableResult
  package func remove(_ file: String) -> Bool {
    unlinkat(descriptor.number, file, 0) == 0
  }

  /// The names of the files in the folder.
  package var names: [String] {
    get throws(FileError) {
      var names: [String] = []
      try forEachName { names.append(String(decoding: $0, as: UTF8.self)) }
      return names
    }
  }

  // MARK: The folder

  /// Whether two folders are the same, even if they were opened by different paths.
  package func isSame(as other: Folder) throws(FileError) -> Bool {
    let (mine, theirs) = (try descriptor.status(), try other.descriptor.status())
    return mine.st_dev == theirs.st_dev && mine.st_ino == theirs.st_ino
  }

  /// Returns the permissions that the process's umask, or the folder, gives to new files.
  ///
  /// Creates a probe file, because reading the umask would briefly change it for all threads.
  package func newFileMode(probe: String) throws(FileError) -> UInt32 {
    remove(probe)
    guard let made = try make(probe, mode: 0o666) else { return 0o600 }
    defer { remove(probe) }
    return UInt32(try made.status().st_mode & 0o777)
  }

  /// The number of free bytes on the file system for this user. `nil` if it is unknown.
  package var freeSpace: Int64? {
    var system = statvfs()
    guard fstatvfs(descriptor.number, &system) == 0 else { return nil }
    let (bytes, isBeyond) = UInt64(system.f_bavail).multipliedReportingOverflow(by: UInt64(system.f_frsize))
    return isBeyond ? .max : Int64(clamping: bytes)
  }

  /// Flushes new and renamed files to the disk.
  package func sync() throws(FileError) {
    try descriptor.sync()
  }

  /// Flushes new and renamed files to the disk, unless the file system is read-only.
  package func syncIfWritable() throws(FileError) {
    do throws(FileError) {
      try sync()
    } catch {
      if error.number != EROFS { throw error }
    }
  }
}

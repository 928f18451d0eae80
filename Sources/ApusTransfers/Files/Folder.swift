#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// An open folder. Its files are opened relative to its descriptor, so that replacing the folder has no effect.
struct Folder: Sendable {
  /// A file with a name, determined without opening it.
  enum Look: Hashable {
    case nothing
    case file
    case folder
    /// A link, a pipe, a socket or a device.
    case special
  }

  let descriptor: Descriptor

  init(_ path: String) throws(TransferError) {
    descriptor = try Descriptor { open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
  }

  func look(at file: String) throws(TransferError) -> Look {
    var status = stat()
    switch Descriptor.attempt({ fstatat(descriptor.number, file, &status, AT_SYMLINK_NOFOLLOW) }) {
    case .failure(let failure) where failure.number == ENOENT: return .nothing
    case .failure(let failure): throw .system(failure.number)
    case .success: break
    }
    switch status.st_mode & S_IFMT {
    case S_IFREG: return .file
    case S_IFDIR: return .folder
    default: return .special
    }
  }

  /// Opens a private file for reading and writing; `nil`: it does not exist.
  ///
  /// - Throws: ``TransferError`` with the reason `notAFile` for a link, a special file and a file of another user.
  func existing(_ file: String, _ flags: Int32 = O_RDWR) throws(TransferError) -> Descriptor? {
    // `O_NONBLOCK`: opening a pipe must not block.
    let flags = flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
    let opened: Descriptor
    switch Descriptor.attempt({ openat(descriptor.number, file, flags) }) {
    case .failure(let failure) where failure.number == ENOENT: return nil
    case .failure(let failure) where failure.number == EISDIR: throw TransferError(.notAFile)
    case .failure(let failure): throw .system(failure.number)
    case .success(let number): opened = try Descriptor { number }
    }
    let status = try opened.status()
    guard status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid() else { throw TransferError(.notAFile) }
    return opened
  }

  /// Creates a file; `nil`: it exists.
  ///
  /// - Parameter mode: the permissions, from which the process's umask may remove some. Default: for its owner only.
  func make(_ file: String, mode: mode_t = 0o600) throws(TransferError) -> Descriptor? {
    let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
    switch Descriptor.attempt({ openat(descriptor.number, file, flags, mode) }) {
    case .failure(let failure) where failure.number == EEXIST: return nil
    case .failure(let failure): throw .system(failure.number)
    case .success(let number): return try Descriptor { number }
    }
  }

  /// Whether an open file still has its name: it may have been removed and created again.
  func has(_ opened: Descriptor, as file: String) throws(TransferError) -> Bool {
    let status = try opened.status()
    var named = stat()
    guard fstatat(descriptor.number, file, &named, AT_SYMLINK_NOFOLLOW) == 0 else { return false }
    return named.st_dev == status.st_dev && named.st_ino == status.st_ino
  }

  /// Renames a file atomically, over any other file with the new name.
  func rename(_ file: String, to other: String) throws(TransferError) {
    try Descriptor.call { renameat(descriptor.number, file, descriptor.number, other) }
  }

  /// Renames a file atomically, unless a file has the new name.
  ///
  /// - Throws: ``TransferError`` with the reason `fileExists`.
  func renameExclusively(_ file: String, to other: String) throws(TransferError) {
    switch Descriptor.attempt({ linkat(descriptor.number, file, descriptor.number, other, 0) }) {
    case .success:
      remove(file)
    case .failure(let failure) where failure.number == EEXIST:
      throw TransferError(.fileExists)
    case .failure(let failure) where [EPERM, ENOTSUP, EOPNOTSUPP, ENOSYS, EMLINK].contains(failure.number):
      // The file system has no hard links. Between the two calls another program may create the file.
      guard try look(at: other) == .nothing else { throw TransferError(.fileExists) }
      try rename(file, to: other)
    case .failure(let failure):
      throw .system(failure.number)
    }
  }

  /// Removes a file if it exists.
  func remove(_ file: String) {
    unlinkat(descriptor.number, file, 0)
  }

  /// The permissions that the process's umask, or the folder, gives to new files.
  ///
  /// Reading the umask would change it for a moment for all threads, so a file is created.
  func newFileMode(probe: String) throws(TransferError) -> mode_t {
    remove(probe)
    guard let made = try make(probe, mode: 0o666) else { return 0o600 }
    defer { remove(probe) }
    return try made.status().st_mode & 0o777
  }

  /// The number of free bytes on the file system for this user. `nil` if it is unknown.
  var freeSpace: Int64? {
    var system = statvfs()
    guard fstatvfs(descriptor.number, &system) == 0 else { return nil }
    let (bytes, isBeyond) = UInt64(system.f_bavail).multipliedReportingOverflow(by: UInt64(system.f_frsize))
    return isBeyond ? .max : Int64(clamping: bytes)
  }

  /// Replaces a file atomically by bytes. When this returns, they are on the disk.
  ///
  /// The caller holds the lock of the transfer, so an existing draft was left behind by a process that died.
  func replace(_ file: String, by bytes: [UInt8]) throws(TransferError) {
    let draft = FilePlace.draft(of: file)
    remove(draft)
    guard let made = try make(draft) else { throw TransferError(.notAFile) }
    do throws(TransferError) {
      // The folder's default permissions may have added some.
      try Descriptor.call { fchmod(made.number, 0o600) }
      try write(bytes, to: made)
      try made.sync()
      try rename(draft, to: file)
    } catch {
      remove(draft)
      throw error
    }
    try descriptor.sync()
  }

  private func write(_ bytes: [UInt8], to file: Descriptor) throws(TransferError) {
    let written = bytes.withUnsafeBytes { buffer in
      Result { () throws(TransferError) in try file.write(buffer, at: 0) }
    }
    try written.get()
  }
}

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// An open folder. Its files are opened relative to its descriptor, so that replacing the folder has no effect.
struct Folder: Sendable {
  /// A file that was read or written.
  struct Content: Sendable {
    let bytes: [UInt8]
    let identity: FileIdentity
    /// The open file, kept as long as the identity is used.
    let descriptor: Descriptor
  }

  let descriptor: Descriptor
  private let name: String

  init(_ path: String) throws(FileCredentialsStoreError) {
    name = FilePlace(path).name
    descriptor = try Descriptor(name) { open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
  }

  /// Refuses a folder that other users can list or write to.
  func check() throws(FileCredentialsStoreError) {
    _ = try descriptor.privateStatus(name, S_IFDIR)
  }

  /// Reads a private file; `nil`: it does not exist.
  ///
  /// - Throws: ``FileCredentialsStoreError``, also for a file of another user, a file that other users can access,
  ///   and a link.
  func content(of file: String, upTo limit: Int) throws(FileCredentialsStoreError) -> Content? {
    guard let opened = try present(file) else { return nil }
    let status = try opened.status(file)
    return Content(bytes: try opened.bytes(upTo: limit, file), identity: FileIdentity(status), descriptor: opened)
  }

  /// Creates a file for its owner only; it must not exist.
  func make(_ file: String) throws(FileCredentialsStoreError) -> Descriptor {
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
    let made = try Descriptor(file) { openat(descriptor.number, file, flags, 0o600) }
    // The process's umask may have removed bits.
    try Descriptor.call("made private", file) { fchmod(made.number, 0o600) }
    return made
  }

  /// Opens a lock file, and creates it if it is missing.
  ///
  /// - Throws: the same errors as ``content(of:upTo:)``.
  func lockable(_ file: String) throws(FileCredentialsStoreError) -> Descriptor {
    let opened: Descriptor
    do throws(FileCredentialsStoreError) {
      let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
      opened = try Descriptor(file) { openat(descriptor.number, file, flags, 0o600) }
    } catch {
      // A link, or a folder.
      throw error.errno == ELOOP || error.errno == EISDIR ? FileCredentialsStoreError(.notAFile, file) : error
    }
    _ = try opened.privateStatus(file, S_IFREG)
    return opened
  }

  /// Opens a private file; `nil`: it does not exist.
  ///
  /// - Throws: the same errors as ``content(of:upTo:)``.
  func present(_ file: String) throws(FileCredentialsStoreError) -> Descriptor? {
    let opened: Descriptor
    do throws(FileCredentialsStoreError) {
      // `O_NONBLOCK`: opening a pipe must not block.
      let flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
      opened = try Descriptor(file) { openat(descriptor.number, file, flags) }
    } catch {
      if error.errno == ENOENT { return nil }
      throw error.errno == ELOOP ? FileCredentialsStoreError(.notAFile, file) : error
    }
    _ = try opened.privateStatus(file, S_IFREG)
    return opened
  }

  /// Whether an open file still has its name: it may have been removed and created again.
  func has(_ opened: Descriptor, as file: String) throws(FileCredentialsStoreError) -> Bool {
    let status = try opened.status(file)
    var named = stat()
    guard fstatat(descriptor.number, file, &named, AT_SYMLINK_NOFOLLOW) == 0 else { return false }
    return named.st_dev == status.st_dev && named.st_ino == status.st_ino
  }

  /// Whether two folders are the same, whatever paths they were opened by.
  func isSame(as other: Folder) throws(FileCredentialsStoreError) -> Bool {
    let (mine, theirs) = (try descriptor.status(name), try other.descriptor.status(other.name))
    return mine.st_dev == theirs.st_dev && mine.st_ino == theirs.st_ino
  }

  /// Gives a file a second name. Returns whether the name was free and the file still existed.
  func link(_ file: String, as second: String) throws(FileCredentialsStoreError) -> Bool {
    do throws(FileCredentialsStoreError) {
      try Descriptor.call("put in place", second) { linkat(descriptor.number, file, descriptor.number, second, 0) }
      return true
    } catch {
      guard error.errno == EEXIST || error.errno == ENOENT else { throw error }
      return false
    }
  }

  /// Renames a file atomically, over any other with the new name.
  func rename(_ file: String, to other: String) throws(FileCredentialsStoreError) {
    try Descriptor.call("replaced", other) { renameat(descriptor.number, file, descriptor.number, other) }
  }

  /// Removes a file if possible.
  func remove(_ file: String) {
    unlinkat(descriptor.number, file, 0)
  }

  /// Flushes new and renamed files to the disk.
  func settle() throws(FileCredentialsStoreError) {
    try descriptor.settle(name)
  }

  /// Flushes to the disk if the file system supports it. A read-only file system does not, and need not.
  func settleWhereItCan() throws(FileCredentialsStoreError) {
    do throws(FileCredentialsStoreError) {
      try settle()
    } catch {
      if error.errno != EINVAL && error.errno != EROFS { throw error }
    }
  }
}

extension Folder {
  /// The steps of a replacement.
  enum Step: CaseIterable, Sendable {
    /// The new file exists, empty, beside the old one.
    case made
    /// The new file is written and on the disk.
    case written
    /// The new file has replaced the old one.
    case replaced
  }

  /// The name of a new file before the replacement. One name is enough, since there is one writer at a time.
  static func draft(of file: String) -> String { file + ".new" }

  /// Replaces a file atomically: at any moment, either the old or the new file exists, complete.
  ///
  /// The caller holds the write lock, so an existing draft was left behind by a process that died.
  ///
  /// - Parameter reached: called at each step; an error ends the replacement there, as a failure of the disk would.
  func replace(_ file: String, by bytes: [UInt8], _ reached: (Step) throws -> Void) throws -> Content {
    let draft = Self.draft(of: file)
    remove(draft)
    let made = try make(draft)
    do {
      try reached(.made)
      try made.keep(bytes, draft)
      try reached(.written)
      try rename(draft, to: file)
    } catch {
      remove(draft)
      throw error
    }
    try reached(.replaced)
    try settle()
    return Content(bytes: bytes, identity: FileIdentity(try made.status(file)), descriptor: made)
  }
}

#if Credentials
  #if canImport(Darwin)
    import Darwin
  #elseif canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #endif

  /// A folder that is open. What is in it is named from here, so that nobody can put another folder in its place
  /// meanwhile.
  struct Folder: Sendable {
    /// A file that was read or written.
    struct Content: Sendable {
      let bytes: [UInt8]
      let identity: FileIdentity
      /// Held as long as the identity is kept.
      let descriptor: Descriptor
    }

    let descriptor: Descriptor
    private let name: String

    init(_ path: String) throws(FileCredentialsError) {
      name = FilePlace(path).name
      descriptor = try Descriptor(name) { open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    }

    /// Refuses a folder into which others can look or put something.
    func check() throws(FileCredentialsError) {
      _ = try descriptor.privateStatus(name, S_IFDIR)
    }

    /// Reads a file of ours; `nil`: there is none.
    ///
    /// - Throws: where it is somebody else's, or others may read or write it, or a link stands in its place.
    func content(of file: String, upTo limit: Int) throws(FileCredentialsError) -> Content? {
      let opened: Descriptor
      do throws(FileCredentialsError) {
        // Nobody who puts a pipe there makes this wait.
        let flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
        opened = try Descriptor(file) { openat(descriptor.number, file, flags) }
      } catch {
        if error.number == ENOENT { return nil }
        throw error.number == ELOOP ? FileCredentialsError(.notAFile, file) : error
      }
      let status = try opened.privateStatus(file, S_IFREG)
      return Content(bytes: try opened.bytes(upTo: limit, file), identity: FileIdentity(status), descriptor: opened)
    }

    /// Makes a file that must not be there, for its owner alone.
    func make(_ file: String) throws(FileCredentialsError) -> Descriptor {
      let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
      let made = try Descriptor(file) { openat(descriptor.number, file, flags, 0o600) }
      // The mask of the process may have taken bits away.
      try Descriptor.call("made private", file) { fchmod(made.number, 0o600) }
      return made
    }

    /// Opens a file that is there to be locked, and makes it where it is missing.
    ///
    /// - Throws: as ``content(of:upTo:)``.
    func lockable(_ file: String) throws(FileCredentialsError) -> Descriptor {
      let opened: Descriptor
      do throws(FileCredentialsError) {
        let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
        opened = try Descriptor(file) { openat(descriptor.number, file, flags, 0o600) }
      } catch {
        // A link, or a folder.
        throw error.number == ELOOP || error.number == EISDIR ? FileCredentialsError(.notAFile, file) : error
      }
      _ = try opened.privateStatus(file, S_IFREG)
      return opened
    }

    /// Whether a file that is open still has its name: it may have been removed, and another made since.
    func has(_ opened: Descriptor, as file: String) throws(FileCredentialsError) -> Bool {
      let status = try opened.status(file)
      var named = stat()
      guard fstatat(descriptor.number, file, &named, AT_SYMLINK_NOFOLLOW) == 0 else { return false }
      return named.st_dev == status.st_dev && named.st_ino == status.st_ino
    }

    /// Whether it is the same folder, by whatever path it was opened.
    func isSame(as other: Folder) throws(FileCredentialsError) -> Bool {
      let (mine, theirs) = (try descriptor.status(name), try other.descriptor.status(other.name))
      return mine.st_dev == theirs.st_dev && mine.st_ino == theirs.st_ino
    }

    /// Gives a file a second name; whether that was free, and the file still there.
    func link(_ file: String, as second: String) throws(FileCredentialsError) -> Bool {
      do throws(FileCredentialsError) {
        try Descriptor.call("put in place", second) { linkat(descriptor.number, file, descriptor.number, second, 0) }
        return true
      } catch {
        guard error.number == EEXIST || error.number == ENOENT else { throw error }
        return false
      }
    }

    /// Gives a file another name, in one step; what had that name is no more.
    func rename(_ file: String, to other: String) throws(FileCredentialsError) {
      try Descriptor.call("replaced", other) { renameat(descriptor.number, file, descriptor.number, other) }
    }

    /// Removes a file, where it can be removed.
    func remove(_ file: String) {
      unlinkat(descriptor.number, file, 0)
    }

    /// Returns when what was made and renamed here is on the disk.
    func settle() throws(FileCredentialsError) {
      try descriptor.settle(name)
    }
    /// The same where the file system does that. One that cannot be written to does not, and need not.
    func settleWhereItCan() throws(FileCredentialsError) {
      do throws(FileCredentialsError) {
        try settle()
      } catch {
        if error.number != EINVAL && error.number != EROFS { throw error }
      }
    }
  }
#endif

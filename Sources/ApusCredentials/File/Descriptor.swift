#if Credentials
  #if canImport(Darwin)
    import Darwin
  #elseif canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #endif

  /// An open file or folder; closed with the last who holds it.
  final class Descriptor: Sendable {
    let number: Int32

    /// Opens what `call` opens.
    init(_ name: String, _ call: () -> Int32) throws(FileCredentialsError) {
      number = try Descriptor.call("opened", name, call)
    }

    deinit {
      close(number)
    }

    /// Calls the system, and again where a signal interrupted it.
    ///
    /// - Parameters:
    ///   - step: what it is to do, as a participle.
    ///   - name: the last component of the path.
    ///   - call: gives a negative number where it is refused.
    @discardableResult
    static func call<Number: SignedInteger>(
      _ step: String, _ name: String, _ call: () -> Number
    ) throws(FileCredentialsError) -> Number {
      while true {
        let result = call()
        if result >= 0 { return result }
        let number = errno
        if number != EINTR { throw FileCredentialsError.system(number, step, name) }
      }
    }

    /// What the system knows of it.
    func status(_ name: String) throws(FileCredentialsError) -> stat {
      var status = stat()
      try Self.call("looked at", name) { fstat(number, &status) }
      return status
    }

    /// What the system knows of it, where it is what it should be and nobody else's.
    ///
    /// - Parameter kind: `S_IFREG` for a file, `S_IFDIR` for a folder.
    func privateStatus(_ name: String, _ kind: mode_t) throws(FileCredentialsError) -> stat {
      let status = try self.status(name)
      guard status.st_mode & S_IFMT == kind else { throw FileCredentialsError(.notAFile, name) }
      guard status.st_uid == geteuid() else { throw FileCredentialsError(.foreignOwner, name) }
      guard status.st_mode & 0o077 == 0 else { throw FileCredentialsError(.othersHaveAccess, name) }
      return status
    }

    /// All bytes of the file, from its beginning.
    ///
    /// - Parameter limit: the most that it may hold.
    func bytes(upTo limit: Int, _ name: String) throws(FileCredentialsError) -> [UInt8] {
      var bytes: [UInt8] = []
      var piece = [UInt8](repeating: 0, count: 16 << 10)
      while bytes.count <= limit {
        let count = try Self.call("read", name) {
          piece.withUnsafeMutableBytes { read(number, $0.baseAddress, $0.count) }
        }
        guard count > 0 else { return bytes }
        bytes += piece[..<count]
      }
      throw FileCredentialsError(.tooLarge, name)
    }

    /// Writes all bytes, and returns when they are on the disk.
    func keep(_ bytes: [UInt8], _ name: String) throws(FileCredentialsError) {
      var start = 0
      while start < bytes.count {
        start += try Self.call("written", name) {
          bytes[start...].withUnsafeBytes { write(number, $0.baseAddress, $0.count) }
        }
      }
      try settle(name)
    }

    /// Returns when everything that was written, or renamed in a folder, is on the disk.
    func settle(_ name: String) throws(FileCredentialsError) {
      #if canImport(Darwin)
        // There the plain call leaves it in the disk's own memory.
        if fcntl(number, F_FULLFSYNC) != -1 { return }
      #endif
      try Self.call("written to the disk", name) { fsync(number) }
    }
  }
#endif

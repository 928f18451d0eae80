#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// An open file or folder. It is closed when the last reference is released.
package final class Descriptor: Sendable {
  package let number: Int32
  /// The last component of the path, for errors.
  package let name: String

  /// Opens a file with a system call.
  init(_ name: String, _ open: () -> Int32) throws(FileError) {
    self.name = name
    number = try systemCall("opened", name, open)
  }

  /// Opens a file for reading.
  package static func reading(_ path: String) throws(FileError) -> Descriptor {
    try Descriptor(FilePath(path).name) { open(path, O_RDONLY | O_CLOEXEC) }
  }

  deinit {
    close(number)
  }

  // MARK: Status

  func status() throws(FileError) -> stat {
    var status = stat()
    try systemCall("examined", name) { fstat(number, &status) }
    return status
  }

  package var identity: FileIdentity { get throws(FileError) { FileIdentity(try status()) } }
  package var size: Int64 { get throws(FileError) { Int64(try status().st_size) } }
  /// The number of hard links of the file.
  package var linkCount: Int { get throws(FileError) { Int(try status().st_nlink) } }

  /// Refuses a file or folder of another kind or user.
  ///
  /// - Parameters:
  ///   - kind: `S_IFREG` for a file, `S_IFDIR` for a folder.
  ///   - isPrivate: whether a file or folder that other users can access is refused, too.
  func check(_ kind: mode_t, isPrivate: Bool) throws(FileError) {
    let status = try status()
    guard status.st_mode & S_IFMT == kind else { throw FileError(.notAFile, "opened", name) }
    guard status.st_uid == geteuid() else { throw FileError(.foreignOwner, "opened", name) }
    guard !isPrivate || status.st_mode & 0o077 == 0 else { throw FileError(.accessibleToOthers, "opened", name) }
  }

  /// Sets the permissions.
  package func setMode(_ mode: UInt32) throws(FileError) {
    try systemCall("made private", name) { fchmod(number, mode_t(mode)) }
  }

  // MARK: Content

  /// Writes all bytes at an offset.
  package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(FileError) {
    var written = 0
    while written < bytes.count {
      let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
      written += try systemCall("written", name) {
        pwrite(number, rest.baseAddress, rest.count, off_t(offset) + off_t(written))
      }
    }
  }

  /// Writes all bytes at the beginning of the file.
  func write(_ bytes: [UInt8]) throws(FileError) {
    let written = bytes.withUnsafeBytes { buffer in
      Result { () throws(FileError) in try write(buffer, at: 0) }
    }
    try written.get()
  }

  /// Reads some bytes at an offset. Returns the number of bytes, which is 0 at the end of the file.
  package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileError) -> Int {
    try Self.read(number, name, into: buffer, at: offset)
  }

  /// Reads some bytes of a file whose descriptor belongs to another owner.
  package static func read(
    _ number: Int32, _ name: String = "", into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
  ) throws(FileError) -> Int {
    try systemCall("read", name) { pread(number, buffer.baseAddress, buffer.count, off_t(offset)) }
  }

  /// Reads up to `count` bytes at an offset. Returns fewer bytes only at the end of the file.
  package func read(_ count: Int, at offset: Int64) throws(FileError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var filled = 0
    while filled < count {
      let start = filled
      let received = try systemCall("read", name) {
        bytes.withUnsafeMutableBytes { buffer in
          let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[start...])
          return pread(number, rest.baseAddress, rest.count, off_t(offset) + off_t(start))
        }
      }
      guard received > 0 else { break }
      filled += received
    }
    if filled < count { bytes.removeSubrange(filled...) }
    return bytes
  }

  /// Reads all bytes of the file, from its current position.
  ///
  /// - Parameter limit: the maximum size.
  package func bytes(upTo limit: Int) throws(FileError) -> [UInt8] {
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 16 << 10)
    while bytes.count <= limit {
      let count = try systemCall("read", name) {
        piece.withUnsafeMutableBytes { systemRead(number, $0) }
      }
      guard count > 0 else { return bytes }
      bytes += piece[..<count]
    }
    throw FileError(.tooLarge, "read", name)
  }

  package func truncate(to length: Int64) throws(FileError) {
    try systemCall("written", name) { ftruncate(number, off_t(length)) }
  }

  /// Flushes a file's content, or a folder's new and renamed files, to the disk.
  package func sync() throws(FileError) {
    #if canImport(Darwin)
    // A plain fsync leaves the bytes in the drive's cache on Apple platforms.
    if fcntl(number, F_FULLFSYNC) != -1 { return }
    #endif
    do throws(FileError) {
      try systemCall("written to the disk", name) { fsync(number) }
    } catch {
      // Some file systems cannot flush a folder.
      if error.number != EINVAL { throw error }
    }
  }

  // MARK: Lock

  /// Acquires the lock of the file for this descriptor (`flock`). The lock excludes all other descriptors, in this and
  /// in any other process. Returns whether the lock was free. The system releases the lock of a process that dies.
  package func lock() throws(FileError) -> Bool {
    do throws(FileError) {
      try systemCall("locked", name) { flock(number, LOCK_EX | LOCK_NB) }
      return true
    } catch {
      guard error.number == EWOULDBLOCK else { throw error }
      return false
    }
  }

  /// Releases the lock. Closing the file is not enough: a child process that is about to start may have inherited the
  /// descriptor.
  package func unlock() {
    flock(number, LOCK_UN)
  }
}

private func systemRead(_ number: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
  read(number, buffer.baseAddress, buffer.count)
}

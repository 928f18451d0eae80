#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// An open file or folder. It is closed when the last reference is released.
final class Descriptor: Sendable {
  let number: Int32

  /// Opens a file with a system call.
  init(_ name: String, _ call: () -> Int32) throws(FileCredentialsStoreError) {
    number = try Descriptor.call("opened", name, call)
  }

  deinit {
    close(number)
  }

  /// Makes a system call, and repeats it if a signal interrupted it.
  ///
  /// - Parameters:
  ///   - step: the operation, as a participle.
  ///   - name: the last component of the path.
  ///   - call: returns a negative number if it fails.
  @discardableResult
  static func call<Number: SignedInteger>(
    _ step: String, _ name: String, _ call: () -> Number
  ) throws(FileCredentialsStoreError) -> Number {
    while true {
      let result = call()
      if result >= 0 { return result }
      let number = errno
      if number != EINTR { throw FileCredentialsStoreError.system(number, step, name) }
    }
  }

  /// The file's status.
  func status(_ name: String) throws(FileCredentialsStoreError) -> stat {
    var status = stat()
    try Self.call("looked at", name) { fstat(number, &status) }
    return status
  }

  /// The file's status, after checking its kind, owner and permissions.
  ///
  /// - Parameter kind: `S_IFREG` for a file, `S_IFDIR` for a folder.
  func privateStatus(_ name: String, _ kind: mode_t) throws(FileCredentialsStoreError) -> stat {
    let status = try self.status(name)
    guard status.st_mode & S_IFMT == kind else { throw FileCredentialsStoreError(.notAFile, name) }
    guard status.st_uid == geteuid() else { throw FileCredentialsStoreError(.foreignOwner, name) }
    guard status.st_mode & 0o077 == 0 else { throw FileCredentialsStoreError(.accessibleToOthers, name) }
    return status
  }

  /// Reads all bytes of the file.
  ///
  /// - Parameter limit: the maximum size.
  func bytes(upTo limit: Int, _ name: String) throws(FileCredentialsStoreError) -> [UInt8] {
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 16 << 10)
    while bytes.count <= limit {
      let count = try Self.call("read", name) {
        piece.withUnsafeMutableBytes { read(number, $0.baseAddress, $0.count) }
      }
      guard count > 0 else { return bytes }
      bytes += piece[..<count]
    }
    throw FileCredentialsStoreError(.tooLarge, name)
  }

  /// Writes all bytes. When this returns, they are on the disk.
  func keep(_ bytes: [UInt8], _ name: String) throws(FileCredentialsStoreError) {
    var start = 0
    while start < bytes.count {
      start += try Self.call("written", name) {
        bytes[start...].withUnsafeBytes { write(number, $0.baseAddress, $0.count) }
      }
    }
    try settle(name)
  }

  /// Flushes a file's content, or a folder's new and renamed files, to the disk.
  func settle(_ name: String) throws(FileCredentialsStoreError) {
    #if canImport(Darwin)
    // A plain fsync leaves the bytes in the drive's cache on Apple platforms.
    if fcntl(number, F_FULLFSYNC) != -1 { return }
    #endif
    try Self.call("written to the disk", name) { fsync(number) }
  }
}

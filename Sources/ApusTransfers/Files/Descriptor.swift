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
  init(_ call: () -> Int32) throws(TransferError) {
    number = try Descriptor.call(call)
  }

  /// Opens a file for reading.
  ///
  /// - Throws: ``TransferError`` with the reasons `fileMissing` and `fileUnreadable`, and others.
  static func reading(_ path: String) throws(TransferError) -> Descriptor {
    switch attempt({ open(path, O_RDONLY | O_CLOEXEC) }) {
    case .success(let number): return try Descriptor { number }
    case .failure(let failure): throw .reading(failure.number)
    }
  }

  deinit {
    close(number)
  }

  /// Makes a system call, and repeats it if a signal interrupted it.
  ///
  /// - Parameter call: returns a negative number if it fails.
  @discardableResult
  static func call<Number: SignedInteger>(_ call: () -> Number) throws(TransferError) -> Number {
    switch attempt(call) {
    case .success(let result): return result
    case .failure(let failure): throw .system(failure.number)
    }
  }

  /// The failure of a system call.
  struct Failure: Error {
    let number: Int32
  }

  /// Makes a system call whose failure is not necessarily an error.
  static func attempt<Number: SignedInteger>(_ call: () -> Number) -> Result<Number, Failure> {
    while true {
      let result = call()
      if result >= 0 { return .success(result) }
      let number = errno
      if number != EINTR { return .failure(Failure(number: number)) }
    }
  }

  func status() throws(TransferError) -> stat {
    var status = stat()
    try Self.call { fstat(number, &status) }
    return status
  }

  /// Writes all bytes at an offset.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(TransferError) {
    var written = 0
    while written < bytes.count {
      let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
      let count = try Self.call { pwrite(number, rest.baseAddress, rest.count, off_t(offset) + off_t(written)) }
      written += count
    }
  }

  /// Reads up to `count` bytes at an offset. Fewer only at the end of the file.
  func read(_ count: Int, at offset: Int64) throws(TransferError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var filled = 0
    while filled < count {
      let start = filled
      let received = try Self.call {
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

  func truncate(to length: Int64) throws(TransferError) {
    try Self.call { ftruncate(number, off_t(length)) }
  }

  /// Flushes a file's content, or a folder's new and renamed files, to the disk.
  func sync() throws(TransferError) {
    #if canImport(Darwin)
    // A plain fsync leaves the bytes in the drive's cache on Apple platforms.
    if fcntl(number, F_FULLFSYNC) != -1 { return }
    #endif
    do throws(TransferError) {
      try Self.call { fsync(number) }
    } catch {
      // Some file systems cannot flush a folder.
      if error.problem != .system(EINVAL) { throw error }
    }
  }

  /// Takes the lock of the file for this descriptor. Returns whether it was free. The system releases the lock of a
  /// process that dies.
  func lock() throws(TransferError) -> Bool {
    switch Self.attempt({ flock(number, LOCK_EX | LOCK_NB) }) {
    case .success: return true
    case .failure(let failure) where failure.number == EWOULDBLOCK: return false
    case .failure(let failure): throw .system(failure.number)
    }
  }

  /// Releases the lock. Closing the file would not release it while a child process that is about to start has the
  /// file open, too.
  func unlock() {
    flock(number, LOCK_UN)
  }
}

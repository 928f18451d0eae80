#if NIO
import ApusCore
import NIOCore
import NIOPosix
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A file that is read in pieces, on threads that may block.
final class FileReader: Sendable {
  private typealias Waiter = CheckedContinuation<ByteBuffer?, any Error>

  private static let pieceLength = 512 << 10

  private let descriptor: CInt
  private let version: FileVersion
  private let rest: Mutex<Int64>
  private let ahead = Mutex(ReadAhead<ByteBuffer, Waiter>())

  private init(descriptor: CInt, version: FileVersion) {
    (self.descriptor, self.version) = (descriptor, version)
    rest = Mutex(version.length)
  }

  deinit {
    close(descriptor)
  }

  /// Opens a file.
  ///
  /// - Throws: `FileFault` if the file can no longer be opened or has another length.
  static func open(_ file: ContentFile) async throws -> FileReader {
    let reader = try await NIOThreadPool.singleton.runIfActive {
      let descriptor = systemOpen(file.path)
      guard descriptor >= 0 else { throw FileFault.unreadable }
      guard let version = FileVersion(descriptor) else {
        close(descriptor)
        throw FileFault.unreadable
      }
      return FileReader(descriptor: descriptor, version: version)
    }
    guard reader.version.length == file.length else { throw FileFault.changed }
    return reader
  }

  /// Returns the next piece, or `nil` after as many bytes as the file had when it was opened. Meanwhile the piece after
  /// it is read.
  ///
  /// - Throws: `FileFault` if the file was changed while it was read.
  func next() async throws -> ByteBuffer? {
    try await withCheckedThrowingContinuation { waiter in
      perform(ahead.withLock { $0.take(waiter) })
    }
  }

  /// Reads one piece. The next one is queued behind the pieces of other uploads.
  private func startReading() {
    NIOThreadPool.singleton.submit { state in
      let outcome = Result {
        guard case .active = state else { throw ChannelError.ioOnClosedChannel }
        return try self.readPiece()
      }
      self.perform(self.ahead.withLock { $0.finish(outcome) })
    }
  }

  private func perform(_ actions: ReadAhead<ByteBuffer, Waiter>.Actions) {
    if let (waiter, outcome) = actions.delivery { waiter.resume(with: outcome) }
    if actions.reads { startReading() }
  }

  private func readPiece() throws -> ByteBuffer? {
    let left = rest.withLock { $0 }
    guard left > 0 else { return nil }
    let buffer = try read(Int(min(left, Int64(Self.pieceLength))))
    // The last piece proves that the file is still the same. The server does not have all announced bytes before.
    let isLast = Int64(buffer.readableBytes) == left
    guard buffer.readableBytes > 0, !isLast || FileVersion(descriptor) == version else { throw FileFault.changed }
    rest.withLock { $0 -= Int64(buffer.readableBytes) }
    return buffer
  }

  private func read(_ count: Int) throws -> ByteBuffer {
    var buffer = ByteBufferAllocator().buffer(capacity: count)
    let descriptor = descriptor
    try buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { target in
      var got: Int
      repeat { got = systemRead(descriptor, target.baseAddress, count) } while got < 0 && errno == EINTR
      guard got >= 0 else { throw IOError(errnoCode: errno, reason: "read") }
      return got
    }
    return buffer
  }
}

/// A file that could be sent when the request was made, and cannot be sent now.
enum FileFault: Error {
  case unreadable
  case changed
}

/// The length of an open file and the time of its last change.
private struct FileVersion: Equatable {
  let length: Int64
  /// The bytes of the system's `timespec`, which is only compared.
  private let time: [UInt8]

  init?(_ descriptor: CInt) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return nil }
    length = Int64(status.st_size)
    #if canImport(Darwin)
    time = withUnsafeBytes(of: status.st_mtimespec) { Array($0) }
    #else
    time = withUnsafeBytes(of: status.st_mtim) { Array($0) }
    #endif
  }
}

private func systemOpen(_ path: String) -> CInt {
  open(path, O_RDONLY | O_CLOEXEC)
}

private func systemRead(_ descriptor: CInt, _ target: UnsafeMutableRawPointer?, _ count: Int) -> Int {
  read(descriptor, target, count)
}
#endif

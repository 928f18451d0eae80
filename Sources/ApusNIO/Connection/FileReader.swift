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
  private typealias Waiter = CheckedContinuation<Void, Never>

  private static let pieceLength = 512 << 10

  private let file: OpenSlice
  private let rest: Mutex<Range<Int64>>
  private let ahead = Mutex(ReadAhead<ByteBuffer, Waiter>())

  private init(_ file: OpenSlice, _ range: Range<Int64>) {
    self.file = file
    rest = Mutex(range)
  }

  /// Opens a file.
  ///
  /// - Throws: the error of `FileSlice.open`.
  static func open(_ slice: FileSlice) async throws -> FileReader {
    try await NIOThreadPool.singleton.runIfActive { FileReader(try slice.open(), slice.range) }
  }

  /// Returns the next piece, or `nil` after the last piece, and starts to read the following piece.
  ///
  /// - Throws: `FileFault`, or the error of `OpenSlice.check`, if the file was changed while it was read.
  func next() async throws -> ByteBuffer? {
    await withCheckedContinuation { waiter in
      perform(ahead.withLock { $0.wait(waiter) })
    }
    // The piece is passed under the lock: if a continuation is resumed before its task suspends, the thread sanitizer
    // would report a race on its value.
    return try ahead.withLock { $0.take() }.get()
  }

  /// Reads one piece at a time, so that the pieces of other uploads are read in between.
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
    actions.waiter?.resume()
    if actions.reads { startReading() }
  }

  private func readPiece() throws -> ByteBuffer? {
    let left = rest.withLock { $0 }
    guard !left.isEmpty else { return nil }
    let buffer = try read(min(left.count, Self.pieceLength), at: left.lowerBound)
    guard buffer.readableBytes > 0 else {
      try file.check()
      throw FileFault.changed
    }
    let next = left.lowerBound + Int64(buffer.readableBytes)
    // Checks for changes before the last piece, so that a changed file never arrives complete.
    if next == left.upperBound { try file.check() }
    rest.withLock { $0 = next..<left.upperBound }
    return buffer
  }

  private func read(_ count: Int, at offset: Int64) throws -> ByteBuffer {
    // Always a new buffer: reusing the memory of sent pieces took twice the time when measured, presumably because that
    // memory is in the cache of the core that sent it.
    var buffer = ByteBufferAllocator().buffer(capacity: count)
    let descriptor = file.descriptor
    try buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { target in
      var got: Int
      repeat { got = pread(descriptor, target.baseAddress, count, off_t(offset)) } while got < 0 && errno == EINTR
      guard got >= 0 else { throw IOError(errnoCode: errno, reason: "read") }
      return got
    }
    return buffer
  }
}

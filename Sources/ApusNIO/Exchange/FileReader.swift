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

  /// Reads a file in pieces, on threads that may block.
  final class FileReader: Sendable {
    private static let pieceLength = 256 << 10

    private let descriptor: CInt
    private let rest: Mutex<Int64>

    private init(descriptor: CInt, length: Int64) {
      self.descriptor = descriptor
      rest = Mutex(length)
    }

    deinit {
      close(descriptor)
    }

    /// Opens a file.
    ///
    /// - Throws: `FileUnreadable` when it can no longer be read.
    static func open(_ file: ContentFile) async throws -> FileReader {
      let descriptor = try await NIOThreadPool.singleton.runIfActive { systemOpen(file.path) }
      guard descriptor >= 0 else { throw FileUnreadable(path: file.path) }
      return FileReader(descriptor: descriptor, length: file.length)
    }

    /// The next piece; `nil` at the end, or after as many bytes as the file had when it was looked at.
    func next() async throws -> ByteBuffer? {
      let count = rest.withLock { Int(min($0, Int64(Self.pieceLength))) }
      guard count > 0 else { return nil }
      let buffer = try await NIOThreadPool.singleton.runIfActive { try self.read(count) }
      rest.withLock { $0 -= Int64(buffer.readableBytes) }
      return buffer.readableBytes > 0 ? buffer : nil
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

  /// A file that was there when the request was made.
  struct FileUnreadable: Error {
    let path: String
  }

  private func systemOpen(_ path: String) -> CInt {
    open(path, O_RDONLY | O_CLOEXEC)
  }

  private func systemRead(_ descriptor: CInt, _ target: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    read(descriptor, target, count)
  }
#endif

#if NIO
import ApusCore
import NIOCore
import NIOPosix
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Content on its way to a connection. Requests one piece at a time, when there is room for it.
struct Upload: Sendable {
  typealias Pieces = @Sendable () async throws -> ContentPiece?

  let exchange: Exchange
  let connection: Connection
  let length: Int64?
  /// Starts a pass over the content.
  let makePieces: @Sendable () async throws -> Pieces

  /// Sends all pieces. Returns early if the exchange ends.
  func sendPieces() async {
    do {
      let pieces = try await makePieces()
      var total: Int64 = 0
      while let piece = try await pieces() {
        guard piece.count > 0 else { continue }
        total += Int64(piece.count)
        if let length, total > length { throw LengthMismatch() }
        guard await connection.writePiece(piece, of: exchange) else { return }
      }
      if let length, total < length { throw LengthMismatch() }
      connection.finishContent(of: exchange)
    } catch {
      connection.failContent(of: exchange, error)
    }
  }

  /// The content is longer or shorter than announced.
  struct LengthMismatch: Error {}
}

extension MessageContent {
  /// The maximum number of content bytes sent together with the head. Longer content is sent in pieces.
  static let singleWriteLimit = 64 << 10

  /// Returns an upload that sends the content in pieces; `nil` if there is no content, or little enough for one
  /// write.
  func upload(of exchange: Exchange, on connection: Connection) -> Upload? {
    switch self {
    case .empty: return nil
    case .bytes(let data) where data.count <= Self.singleWriteLimit: return nil
    default: return Upload(exchange: exchange, connection: connection, length: length, makePieces: makePieces)
    }
  }

  private var makePieces: @Sendable () async throws -> Upload.Pieces {
    switch self {
    case .empty: return { { nil } }
    case .bytes(let data): return { data.pieces(of: 256 << 10) }
    case .file(let file):
      return {
        let reader = try await FileReader.open(file)
        return { try await reader.next().map { .buffer($0) } }
      }
    case .stream(let stream):
      return {
        let pieces = try stream.makePieces()
        return { try await pieces().map { .data($0) } }
      }
    case .joined(let contents):
      return {
        let pieces = JoinedPieces(contents.map(\.makePieces))
        return { try await pieces.next() }
      }
    }
  }
}

extension Data {
  fileprivate func pieces(of size: Int) -> Upload.Pieces {
    let rest = Remaining(self)
    return { rest.next(size).map { .data($0) } }
  }
}

/// A piece of content, in the form that its source provides.
enum ContentPiece: Sendable {
  case data(Data)
  case buffer(ByteBuffer)

  var count: Int {
    switch self {
    case .data(let data): data.count
    case .buffer(let buffer): buffer.readableBytes
    }
  }

  func write(to target: inout ByteBuffer) {
    switch self {
    case .data(let data): target.writeBytes(data)
    case .buffer(let buffer): target.writeImmutableBuffer(buffer)
    }
  }
}

/// Bytes that are handed out piece by piece.
private final class Remaining: Sendable {
  private let rest: Mutex<Data>

  init(_ data: Data) {
    rest = Mutex(data)
  }

  func next(_ count: Int) -> Data? {
    rest.withLock { rest in
      guard !rest.isEmpty else { return nil }
      defer { rest = rest.dropFirst(count) }
      return rest.prefix(count)
    }
  }
}

/// A file that is read in pieces, on threads that may block.
final class FileReader: Sendable {
  private static let pieceLength = 256 << 10

  private let descriptor: CInt
  private let version: FileVersion
  private let rest: Mutex<Int64>

  private init(descriptor: CInt, version: FileVersion) {
    (self.descriptor, self.version) = (descriptor, version)
    rest = Mutex(version.length)
  }

  deinit {
    close(descriptor)
  }

  /// Opens a file.
  ///
  /// - Throws: `FileFault` if the file cannot be opened any more or has another length.
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

  /// Returns the next piece, or `nil` after as many bytes as the file had when it was opened.
  ///
  /// - Throws: `FileFault` if the file was changed while it was read.
  func next() async throws -> ByteBuffer? {
    let count = rest.withLock { Int(min($0, Int64(Self.pieceLength))) }
    guard count > 0 else { return nil }
    let buffer = try await NIOThreadPool.singleton.runIfActive {
      let buffer = try self.read(count)
      // The last piece proves that the file is still the same. The server does not have all announced bytes before.
      let isLast = Int64(buffer.readableBytes) == self.rest.withLock { $0 }
      guard buffer.readableBytes > 0, !isLast || FileVersion(self.descriptor) == self.version else {
        throw FileFault.changed
      }
      return buffer
    }
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

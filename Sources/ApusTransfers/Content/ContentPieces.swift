#if Transfers
import ApusCore
import Foundation
import Synchronization

extension MessageContent {
  /// A function that starts to read the content in pieces.
  var makePieces: @Sendable () async throws -> ContentStream.Pieces {
    switch self {
    case .empty: return { { nil } }
    case .bytes(let data):
      return {
        let rest = Mutex(data)
        return {
          rest.withLock { rest in
            guard !rest.isEmpty else { return nil }
            defer { rest = rest.dropFirst(FilePieces.length) }
            return rest.prefix(FilePieces.length)
          }
        }
      }
    case .file(let file):
      return {
        let pieces = try await FilePieces.open(file)
        return { try await pieces.next() }
      }
    case .stream(let stream): return { try stream.makePieces() }
    case .joined(let contents):
      return {
        let pieces = JoinedPieces(contents.map(\.makePieces))
        return { try await pieces.next() }
      }
    }
  }
}

/// A file that is read in pieces, on a queue of its own.
private final class FilePieces: Sendable {
  /// The length of a piece in bytes.
  static let length = 256 << 10

  private let queue: FileQueue
  private let descriptor: Descriptor
  private let size: Int64
  private let offset = Mutex<Int64>(0)

  private init(_ queue: FileQueue, _ descriptor: Descriptor, size: Int64) {
    (self.queue, self.descriptor, self.size) = (queue, descriptor, size)
  }

  /// Opens a file.
  ///
  /// - Throws: ``TransferError`` if the file cannot be read any more; ``ContentChanged`` if it has another length.
  static func open(_ file: ContentFile) async throws -> FilePieces {
    let queue = FileQueue("content")
    let (descriptor, size) = try await queue.run { () throws(TransferError) in
      let descriptor = try Descriptor.reading(file.path)
      return (descriptor, Int64(try descriptor.status().st_size))
    }
    guard size == file.length else { throw ContentChanged() }
    return FilePieces(queue, descriptor, size: size)
  }

  /// Returns the next piece, or `nil` after as many bytes as the file had when it was opened.
  func next() async throws -> Data? {
    let start = offset.withLock { $0 }
    let count = Int(min(size - start, Int64(Self.length)))
    guard count > 0 else { return nil }
    let descriptor = descriptor
    let bytes = try await queue.run { () throws(TransferError) in try descriptor.read(count, at: start) }
    guard bytes.count == count else { throw ContentChanged() }
    offset.withLock { $0 += Int64(count) }
    return Data(bytes)
  }
}

/// A file that was changed after the call began.
struct ContentChanged: LoggableError {
  var description: String { "the file to send was changed after the call began" }
}
#endif

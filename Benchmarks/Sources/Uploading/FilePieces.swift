import Foundation
public import NIOCore

/// A file in pieces, read on demand: the fastest way to upload a file with async-http-client.
public struct FilePieces: AsyncSequence, Sendable {
  let path: String
  let pieceSize: Int
  /// The bytes before and after the file.
  let head: String
  let tail: String
  /// The number of bytes, those before and after the file included.
  public let length: Int64

  /// - Parameters:
  ///   - path: the path of the file.
  ///   - pieceSize: the number of bytes of a piece of the file.
  ///   - head: the text before the file. Default: none.
  ///   - tail: the text after the file. Default: none.
  public init(path: String, of pieceSize: Int, head: String = "", tail: String = "") throws {
    (self.path, self.pieceSize, self.head, self.tail) = (path, pieceSize, head, tail)
    let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int64 ?? 0
    length = size + Int64(head.utf8.count + tail.utf8.count)
  }

  /// Opens the file.
  public func makeAsyncIterator() -> Iterator { Iterator(self) }

  /// The pieces of an open file.
  public final class Iterator: AsyncIteratorProtocol {
    private let descriptor: Int32
    private let pieceSize: Int
    private var head: String?
    private var tail: String?

    init(_ pieces: FilePieces) {
      descriptor = open(pieces.path, O_RDONLY)
      (pieceSize, head, tail) = (pieces.pieceSize, pieces.head, pieces.tail)
    }
    deinit { close(descriptor) }

    /// Returns the next piece.
    public func next() async throws -> ByteBuffer? {
      if let text = Self.taken(&head) { return ByteBuffer(string: text) }
      var piece = ByteBuffer()
      piece.writeWithUnsafeMutableBytes(minimumWritableBytes: pieceSize) {
        Swift.max(0, read(descriptor, $0.baseAddress, $0.count))
      }
      return piece.readableBytes > 0 ? piece : Self.taken(&tail).map { ByteBuffer(string: $0) }
    }

    /// Returns a text once, unless it is empty.
    private static func taken(_ text: inout String?) -> String? {
      defer { text = nil }
      return text?.isEmpty == false ? text : nil
    }
  }
}

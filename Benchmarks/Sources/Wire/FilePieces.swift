import Foundation
import NIOCore

/// A file in pieces of 256 KiB, read on demand: the fastest way to upload a file with async-http-client.
struct FilePieces: AsyncSequence, Sendable {
  let path: String
  let length: Int64

  init(path: String) throws {
    self.path = path
    length = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int64 ?? 0
  }

  func makeAsyncIterator() -> Iterator { Iterator(descriptor: open(path, O_RDONLY)) }

  final class Iterator: AsyncIteratorProtocol {
    private let descriptor: Int32

    init(descriptor: Int32) { self.descriptor = descriptor }
    deinit { close(descriptor) }

    func next() async throws -> ByteBuffer? {
      var piece = ByteBuffer()
      piece.writeWithUnsafeMutableBytes(minimumWritableBytes: 256 << 10) {
        Swift.max(0, read(descriptor, $0.baseAddress, $0.count))
      }
      return piece.readableBytes > 0 ? piece : nil
    }
  }
}

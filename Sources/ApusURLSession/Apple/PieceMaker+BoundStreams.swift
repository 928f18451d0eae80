#if canImport(Security)
import ApusCore
import Foundation
import Security

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension PieceMaker: OutgoingStream {
  func task(for request: URLRequest, in session: URLSession) throws -> URLSessionTask {
    var request = request
    request.httpBodyStream = try inputStream()
    return session.dataTask(with: request)
  }

  /// Creates the stream from which the session reads the content.
  ///
  /// The stream is one end of a pair of bound streams. A thread writes pieces into the other end and blocks while the
  /// session does not read, so at most 64 KiB are buffered.
  private func inputStream() throws -> InputStream {
    var input: InputStream?
    var output: OutputStream?
    Stream.getBoundStreams(withBufferSize: 64 << 10, inputStream: &input, outputStream: &output)
    guard let input, let output else {
      throw TransportError(
        .invalidRequest, requestState: .notSent, detail: "the system provides no stream for the content")
    }
    let writer = BoundStreamWriter(pieces: pieces, output: output)
    Thread.detachNewThread { writer.writeAll() }
    return input
  }
}

/// A writer of pieces into a bound stream.
///
/// Unchecked `Sendable`: only the thread of ``writeAll()`` uses the output stream.
private final class BoundStreamWriter: @unchecked Sendable {
  private let pieces: OutgoingPieces
  private let output: OutputStream

  init(pieces: OutgoingPieces, output: OutputStream) {
    self.pieces = pieces
    self.output = output
  }

  func writeAll() {
    output.open()
    defer { output.close() }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 16 << 10, alignment: 1)
    defer { buffer.deallocate() }
    while let count = pieces.read(into: buffer), count > 0 {
      guard write(UnsafeRawBufferPointer(rebasing: buffer[..<count])) else { return pieces.close() }
    }
  }

  private func write(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var rest = bytes
    while let start = rest.bindMemory(to: UInt8.self).baseAddress, !rest.isEmpty {
      let count = output.write(start, maxLength: rest.count)
      guard count > 0 else { return false }
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
    }
    return true
  }
}
#endif

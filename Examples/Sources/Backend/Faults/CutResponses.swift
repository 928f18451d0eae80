import HTTPTypes
import Hummingbird
import NIOCore
import Synchronization

/// Closes connections of a backend in the middle of responses, to show how clients continue.
///
/// ```swift
/// let options = Backend.Options()
/// options.cut.cut("GET /friends/activity", after: 100)
/// let backend = try await Backend.start(options)
/// // … a client receives 100 bytes of the content, then the connection is closed …
/// ```
public final class CutResponses: Sendable {
  private let limits = Mutex<[String: Int]>([:])

  /// Creates an object that cuts no responses.
  public init() {}

  /// Closes the connection in the middle of the next response to a request with a method and a path.
  ///
  /// - Parameters:
  ///   - subject: method and path without the query, for example `GET /friends/activity`.
  ///   - count: the number of bytes of the content that are sent.
  public func cut(_ subject: String, after count: Int) {
    limits.withLock { $0[subject] = count }
  }

  /// Returns the response, with content that ends early if the request is the next one to be cut.
  func applied(to response: Response, of subject: String) -> Response {
    guard let limit = limits.withLock({ $0.removeValue(forKey: subject) }) else { return response }
    var response = response
    let content = response.body
    response.body = ResponseBody(contentLength: content.contentLength) { writer in
      try await content.write(CutWriter(writer: writer, rest: limit))
    }
    return response
  }
}

/// The server closed the connection on request.
struct ConnectionCut: Error {}

/// A writer that fails after a number of bytes.
private struct CutWriter: ResponseBodyWriter {
  var writer: any ResponseBodyWriter
  /// The number of bytes that may still be written.
  var rest: Int

  @concurrent
  mutating func write(_ buffer: ByteBuffer) async throws {
    var buffer = buffer
    if let piece = buffer.readSlice(length: min(rest, buffer.readableBytes)) {
      rest -= piece.readableBytes
      try await writer.write(piece)
    }
    if rest == 0 { throw ConnectionCut() }
  }

  @concurrent
  consuming func finish(_ trailingHeaders: HTTPFields?) async throws {
    try await writer.finish(trailingHeaders)
  }
}

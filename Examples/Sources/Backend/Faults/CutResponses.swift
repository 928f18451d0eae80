import HTTPTypes
import NIOCore
import Synchronization

/// Faults that close connections of a backend in the middle of responses, to demonstrate how clients continue.
///
/// ```swift
/// let options = Backend.Options()
/// options.cut.cut("GET /friends/activity", after: 100)
/// let backend = try await Backend.start(options)
/// // … a client receives 100 bytes of the content, then the connection is closed …
/// ```
public final class CutResponses: Sendable {
  private let limits = Mutex<[String: Int]>([:])

  /// Creates an object that leaves all responses complete.
  public init() {}

  /// Closes the connection in the middle of the next response to a request with a method and a path.
  ///
  /// - Parameters:
  ///   - subject: method and path without the query, for example `GET /friends/activity`.
  ///   - count: the number of bytes of the content that are sent.
  public func cut(_ subject: String, after count: Int) {
    limits.withLock { $0[subject] = count }
  }

  /// Returns the response; its content ends early if the connection is to be closed in the middle of it.
  func applied(to response: Response, of subject: String) -> Response {
    guard let limit = limits.withLock({ $0.removeValue(forKey: subject) }) else { return response }
    var response = response
    let content = response.body
    response.body = ResponseBody(contentLength: content.contentLength) { write in
      let left = Mutex(limit)
      try await content.write { bytes in
        var bytes = bytes
        let (piece, isCut) = left.withLock { left in
          let piece = bytes.readSlice(length: min(left, bytes.readableBytes))
          left -= piece?.readableBytes ?? 0
          return (piece, left == 0)
        }
        if let piece { try await write(piece) }
        if isCut { throw ConnectionCut() }
      }
    }
    return response
  }
}

/// Thrown to close the connection in the middle of a response.
struct ConnectionCut: Error {}

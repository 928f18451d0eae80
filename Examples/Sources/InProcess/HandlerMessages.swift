public import Apus
public import Foundation

/// A request as a handler receives it.
public struct HandlerRequest: Sendable {
  /// The method, the target and the header fields, with `Content-Length` if the length was known in advance.
  public let head: HTTPRequest
  /// The content (body).
  public let content: Data
}

/// The response of a handler.
public struct HandlerResponse: Sendable {
  enum Content {
    case bytes(Data)
    case pieces(ContentStream.Pieces)
  }

  let head: HTTPResponse
  let content: Content
  let trailers: HTTPFields

  /// Creates a response with content in memory.
  ///
  /// - Parameters:
  ///   - head: the status and the fields.
  ///   - content: the content. Default: none.
  public init(_ head: HTTPResponse, content: Data = Data()) {
    (self.head, self.content, trailers) = (head, .bytes(content), [:])
  }

  /// Creates a response whose content is produced while it is read.
  ///
  /// - Parameters:
  ///   - head: the status and the fields. The exchange fails if the content has another length than `Content-Length`.
  ///   - trailers: the fields after the content. Default: none.
  ///   - pieces: returns the next piece, or `nil` at the end. If it throws, the response is interrupted.
  public init(_ head: HTTPResponse, trailers: HTTPFields = [:], pieces: @escaping ContentStream.Pieces) {
    (self.head, content, self.trailers) = (head, .pieces(pieces), trailers)
  }
}

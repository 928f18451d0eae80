public import HTTPTypes

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The server that conformance checks use: an adapter of a test's own server.
///
/// The server replies by path as a check specifies, and records the requests. All waits end when the task is
/// cancelled.
public protocol ConformanceServer: Sendable {
  /// The URL the server listens on, such as `http://127.0.0.1:49152`.
  var baseURL: String { get }

  /// A URL that refuses connections.
  var refusingURL: String { get }

  /// Sets the reply to every request with a path (the target up to `?`). Requests with other paths get a 404.
  func reply(to path: String, with reply: ConformanceReply) async

  /// Releases all delayed replies, now and later.
  func release() async

  /// The complete requests, in order of arrival.
  var requests: [ConformanceRequest] { get async }

  /// Waits until a request with a path is complete, and returns the first such request.
  func waitForRequest(_ path: String) async throws -> ConformanceRequest

  /// Waits until the client closes the connection of the exchange with a path before the reply is complete. Called only
  /// for paths with a single request.
  ///
  /// - Throws: ``ConformanceFailure`` if the exchange ended in another way.
  func waitForClientClose(_ path: String) async throws

  /// Returns whether the reply to the first request with a path was written to the network completely.
  func hasReplied(_ path: String) async -> Bool
}

/// A request as the server received it.
public struct ConformanceRequest: Sendable {
  /// The method token, unchanged.
  package var method: String
  /// The request target (path and query), unchanged.
  package var target: String
  /// The field lines in order.
  package var fields: HTTPFields
  /// The content without its framing.
  package var content: Data
  /// The number of the connection.
  package var connection: Int

  /// Creates a request from its received parts.
  public init(method: String, target: String, fields: HTTPFields, content: Data, connection: Int) {
    self.method = method
    self.target = target
    self.fields = fields
    self.content = content
    self.connection = connection
  }

  /// The target up to `?`.
  public var path: String { String(target.prefix { $0 != "?" }) }
}

/// A script for a server's reply to a request: a list of steps.
public struct ConformanceReply: Sendable {
  /// A step of a reply.
  public enum Step: Sendable {
    /// Reads nothing after the request's head until the server is released. Can only be the first step.
    case stopReading
    /// Performs the further steps as soon as the request's head has arrived. If `readsContent` is `false`, nothing more
    /// is read until the server is released. Can only be the first step.
    case early(readsContent: Bool)
    /// Sends an interim response.
    case interim(Int, fields: HTTPFields = [:])
    /// Sends the head. The content is framed by `Content-Length` if `fields` has this field. If not, the content is
    /// chunked, unless the status allows no content.
    case head(status: Int, fields: HTTPFields)
    /// Sends a piece of content a number of times, no faster than the client reads.
    case content(Data, times: Int = 1)
    /// Ends chunked content with trailers. Must be the last step.
    case trailers(HTTPFields)
    /// Sends everything before it, then waits until the server is released.
    case hold
    /// Sends raw bytes, valid HTTP or not.
    case raw(Data)
    /// Closes the connection, even if the response is incomplete.
    case close
  }

  /// Creates a reply of raw bytes in place of a response; then the connection is closed.
  package static func raw(_ text: String) -> ConformanceReply {
    ConformanceReply([.raw(Data(text.utf8)), .close])
  }

  /// The steps, in order.
  public var steps: [Step]

  /// Creates a reply.
  package init(_ steps: [Step]) {
    self.steps = steps
  }

  /// Creates a complete response with `Content-Length`.
  public static func status(
    _ status: Int, fields: HTTPFields = [:], content: String = ""
  ) -> ConformanceReply {
    var fields = fields
    if fields[.contentLength] == nil, status != 204 { fields[.contentLength] = String(content.utf8.count) }
    let head = Step.head(status: status, fields: fields)
    return ConformanceReply(content.isEmpty ? [head] : [head, .content(Data(content.utf8))])
  }
}

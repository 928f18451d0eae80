public import HTTPTypes

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// What a server does in answer to a request, step by step.
public struct ConformanceReply: Sendable {
  /// One thing a server does.
  public enum Step: Sendable {
    /// Reads the request's head and nothing behind it until the server is told to release. Only first, if at all.
    case withhold
    /// Sends an interim response.
    case interim(Int, fields: HTTPFields = [:])
    /// Sends the head. Content behind it is framed by `Content-Length` when `fields` has one, in chunks otherwise;
    /// nothing is framed where the status allows no content.
    case head(status: Int, fields: HTTPFields)
    /// Sends a piece of content so many times, no faster than the client takes it.
    case content(Data, times: Int = 1)
    /// Ends content that is framed in chunks, with fields behind it. Nothing may follow.
    case trailers(HTTPFields)
    /// Waits until the server is told to release, with everything before it sent.
    case hold
    /// Sends bytes as they are, HTTP or not.
    case raw(Data)
    /// Closes the connection, whatever was promised.
    case close
  }

  /// Bytes as they are in place of an answer; then the connection is closed.
  public static func raw(_ text: String) -> ConformanceReply {
    ConformanceReply([.raw(Data(text.utf8)), .close])
  }

  /// What the server does, in order.
  public var steps: [Step]

  /// Makes a reply of steps.
  public init(_ steps: [Step]) {
    self.steps = steps
  }

  /// A complete answer with `Content-Length`.
  public static func status(
    _ status: Int, fields: HTTPFields = [:], content: String = ""
  ) -> ConformanceReply {
    var fields = fields
    if fields[.contentLength] == nil, status != 204 { fields[.contentLength] = String(content.utf8.count) }
    let head = Step.head(status: status, fields: fields)
    return ConformanceReply(content.isEmpty ? [head] : [head, .content(Data(content.utf8))])
  }
}

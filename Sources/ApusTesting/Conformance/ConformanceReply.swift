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
    /// Sends an interim response with this status and no fields.
    case interim(Int)
    /// Sends the head. Content behind it is framed by `Content-Length` when `fields` has one, in chunks otherwise;
    /// nothing is framed where the status allows no content.
    case head(status: Int, fields: HTTPFields)
    /// Sends a piece of content.
    case content(Data)
    /// Waits until the server is told to release, with everything before it sent.
    case hold
    /// Sends bytes that are no HTTP in place of a head, and closes the connection.
    case garbage(String)
    /// Closes the connection, whatever was promised.
    case close
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

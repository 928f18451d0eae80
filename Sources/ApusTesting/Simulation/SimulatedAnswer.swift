public import HTTPTypes

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// What a simulated server answers to one request.
public struct SimulatedAnswer: Sendable {
  /// The status. Default: 200.
  public var status: Int
  /// The fields of the head; `Content-Length` is added. Default: none.
  public var fields: HTTPFields
  /// The content, whose size counts where bandwidth is limited. Default: none.
  public var content: Data
  /// How long the server works on it; `nil`: as long as on any other request.
  public var serviceTime: DurationDistribution?

  /// Makes an answer.
  public init(
    status: Int = 200, fields: HTTPFields = [:], content: Data = Data(), serviceTime: DurationDistribution? = nil
  ) {
    self.status = status
    self.fields = fields
    self.content = content
    self.serviceTime = serviceTime
  }

  /// JSON as written.
  public static func json(_ json: String, status: Int = 200) -> SimulatedAnswer {
    SimulatedAnswer(status: status, fields: [.contentType: "application/json"], content: Data(json.utf8))
  }

  /// So many bytes that mean nothing.
  public static func bytes(_ count: Int) -> SimulatedAnswer {
    SimulatedAnswer(fields: [.contentType: "application/octet-stream"], content: Data(count: count))
  }

  /// What a server says that has no place for another request: 503, and when to come again (RFC 9110 §10.2.3).
  static func overloaded(retryAfter: Duration?) -> SimulatedAnswer {
    var fields = HTTPFields()
    if let retryAfter {
      // Whole seconds, and never sooner than meant.
      let parts = retryAfter.components
      fields[.retryAfter] = String(parts.seconds + (parts.attoseconds > 0 ? 1 : 0))
    }
    return SimulatedAnswer(status: 503, fields: fields)
  }

  /// The head as it is sent; a status that is none becomes 500.
  var head: HTTPResponse {
    var fields = fields
    if fields[.contentLength] == nil { fields[.contentLength] = String(content.count) }
    let code = (200...599).contains(status) ? status : 500
    return HTTPResponse(status: HTTPResponse.Status(code: code), headerFields: fields)
  }
}

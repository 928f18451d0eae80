public import ApusWaiting
import HTTPTypes

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The response of a simulated server.
public struct SimulatedResponse: Sendable {
  /// The status. Default: 200.
  package var status: Int
  /// The fields (headers); `Content-Length` is added. Default: none.
  package var fields: FieldLines
  /// The content (body), which uses the link's bandwidth. Default: none.
  package var content: Data
  /// The time the server works on the request. Default: `nil`, which uses the server's service time.
  package var serviceTime: DurationDistribution?

  /// Creates a response.
  ///
  /// - Parameters:
  ///   - status: the status.
  ///   - fields: the fields (headers); `Content-Length` is added.
  ///   - content: the content (body), which uses the link's bandwidth.
  ///   - serviceTime: the time the server works on the request. Default: `nil`, which uses the server's service time.
  public init(
    status: Int = 200, fields: FieldLines = [:], content: Data = Data(), serviceTime: DurationDistribution? = nil
  ) {
    self.status = status
    self.fields = fields
    self.content = content
    self.serviceTime = serviceTime
  }

  /// Creates a response of JSON, sent as written.
  public static func json(_ json: String, status: Int = 200) -> SimulatedResponse {
    SimulatedResponse(status: status, fields: ["Content-Type": "application/json"], content: Data(json.utf8))
  }

  /// Creates a response of `count` zero bytes.
  public static func bytes(_ count: Int) -> SimulatedResponse {
    SimulatedResponse(fields: ["Content-Type": "application/octet-stream"], content: Data(count: count))
  }

  /// Returns the response of a server whose queue is full: 503, with `Retry-After` if given (RFC 9110 §10.2.3).
  static func overloaded(retryAfter: Duration?) -> SimulatedResponse {
    var fields = FieldLines()
    if let retryAfter {
      // `Retry-After` has whole seconds, so the delay is rounded up.
      let parts = retryAfter.components
      fields["Retry-After"] = String(parts.seconds + (parts.attoseconds > 0 ? 1 : 0))
    }
    return SimulatedResponse(status: 503, fields: fields)
  }

  /// The head as sent. An invalid status becomes 500; invalid fields are omitted.
  var head: HTTPResponse {
    var fields = fields.httpFields
    if fields[.contentLength] == nil { fields[.contentLength] = String(content.count) }
    let code = (200...599).contains(status) ? status : 500
    return HTTPResponse(status: HTTPResponse.Status(code: code), headerFields: fields)
  }
}

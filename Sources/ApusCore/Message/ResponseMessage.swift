public import HTTPTypes

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A response as it was received: the head of the final response and its content (body).
public struct ResponseMessage: Sendable {
  /// The status and the fields (headers) (RFC 9110 §15).
  public var head: HTTPResponse {
    didSet { statusCode = head.status.code }
  }
  /// The content, in memory or still arriving.
  public var content: ResponseContent
  /// The version of HTTP over which the response came, or `nil` if the transport does not report it. Default: `nil`.
  public var protocolVersion: HTTPVersion?
  /// The number of exchanges that the server accepts on one HTTP/2 connection at a time
  /// (`SETTINGS_MAX_CONCURRENT_STREAMS`, RFC 9113 §6.5.2). Default: `UInt32.max`, the server states no limit. Without
  /// meaning for other versions.
  package var maximumConcurrentStreams = UInt32.max
  /// The code of the status. Stored because the head parses it each time, and several middlewares read it.
  package private(set) var statusCode: Int

  /// Creates a message.
  public init(head: HTTPResponse, content: ResponseContent = .empty) {
    self.head = head
    self.content = content
    statusCode = head.status.code
  }

  /// Discards the rest of the content: the exchange is drained or closed.
  ///
  /// A middleware that receives a response and does not return it must discard it.
  public func discard() {
    content.discard()
  }
}

extension ResponseMessage {
  /// The server's time in the field `Date`, in whole seconds (RFC 9110 §6.6.1), or `nil` if it is missing or malformed.
  public var date: Date? {
    head.headerFields.single(.date).flatMap(HTTPDate.parse).map { Date(timeIntervalSince1970: Double($0)) }
  }

  /// The delay that the server requests before a retry, or `nil` if there is none.
  ///
  /// Read from `Retry-After` as a number of seconds or as a date (RFC 9110 §10.2.3). A date is compared with the
  /// response's own `Date`, so that a wrong clock has no effect; the date is ignored if `Date` is missing. A date in
  /// the past means zero. `retry-after-ms`, in milliseconds, takes precedence because it is more precise. Malformed
  /// values are ignored. The maximum is 2³¹ seconds.
  public var retryAfter: Duration? { RetryAfter.delay(in: head.headerFields) }
}

/// A parser for `Retry-After` and `retry-after-ms`.
enum RetryAfter {
  /// The maximum delay in seconds (RFC 9111 §1.2.2).
  private static let longest: Int64 = 1 << 31

  private static let millisecondsName = HTTPField.Name("retry-after-ms")

  static func delay(in fields: HTTPFields) -> Duration? {
    if let name = millisecondsName, let text = fields.single(name), isNumber(text) {
      return .milliseconds(min(Int64(text) ?? .max, longest * 1000))
    }
    guard let text = fields.single(.retryAfter), !text.isEmpty else { return nil }
    if isNumber(text) { return .seconds(min(Int64(text) ?? longest, longest)) }
    guard let date = HTTPDate.parse(text), let now = fields.single(.date).flatMap(HTTPDate.parse) else { return nil }
    return .seconds(min(max(0, date - now), longest))
  }

  private static func isNumber(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { $0.isDigit }
  }
}

extension Content {
  /// Creates content from a response. Empty if the content is still arriving.
  init(of response: ResponseMessage, coding: CodingOptions) {
    self.init(
      data: response.content.bytes ?? Data(),
      mediaType: response.head.headerFields.first { $0.name == .contentType }.map { MediaType($0.value) },
      status: response.statusCode, coding: coding)
    if !data.isEmpty { undecoded = UndecodedCoding(response.head.headerFields) }
  }
}

extension ResponseMessage {
  /// Whether a response is a redirect that a client can follow automatically (RFC 9110 §15.4).
  ///
  /// Such a response has the status 301, 302, 303, 307 or 308 and a `Location` that is not empty. The other statuses of
  /// the class are a choice for the user (300), a still valid stored response (304), or no longer used (305, 306).
  package static func isRedirect(_ head: HTTPResponse) -> Bool {
    // Parsing the status takes longer than detecting that the field is missing, as it is in nearly all responses.
    guard head.headerFields.contains(.location) else { return false }
    switch head.status.code {
    case 301, 302, 303, 307, 308:
      return head.headerFields[values: .location].contains { $0.utf8.contains { $0 != 0x20 && $0 != 0x09 } }
    default: return false
    }
  }
}

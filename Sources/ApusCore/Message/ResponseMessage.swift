public import HTTPTypes

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// What came back on the wire: the head of the final response and its content.
public struct ResponseMessage: Sendable {
  /// Status and fields (RFC 9110 §15).
  public var head: HTTPResponse
  /// The content, in memory or still arriving.
  public var content: ResponseContent

  /// Makes a message of a head and its content.
  public init(head: HTTPResponse, content: ResponseContent = .empty) {
    self.head = head
    self.content = content
  }

  /// Gives the rest of the content up: an exchange that still runs is drained or closed.
  ///
  /// Whoever receives a response and does not pass it on must discard it.
  public func discard() {
    content.discard()
  }
}

extension ResponseMessage {
  /// What the server's clock said when it made the answer, to the second (`Date`, RFC 9110 §6.6.1); `nil`: it did not say,
  /// or not so that it can be read.
  public var date: Date? {
    head.headerFields[.date].flatMap(HTTPDate.parse).map { Date(timeIntervalSince1970: Double($0)) }
  }
}

extension ResponseMessage {
  /// How long the server asks to wait before the next try; `nil`: it does not ask.
  ///
  /// `Retry-After` as a number of seconds or as a date, which counts from the response's own `Date`, so that a wrong
  /// clock does not matter (RFC 9110 §10.2.3): without one it is ignored. A date that has passed is zero. `retry-after-ms`, a number of
  /// milliseconds that some servers add, is the more exact of both and wins. What cannot be read is ignored; a delay is
  /// at most 2³¹ seconds.
  public var retryAfter: Duration? { RetryAfter.delay(in: head.headerFields) }
}

/// Reads `Retry-After`: a number of seconds, or a date that is compared with the response's own `Date`, so
/// that a wrong clock does not matter (RFC 9110 §10.2.3, §5.6.7). Some servers add
/// `retry-after-ms`, which is more exact.
enum RetryAfter {
  /// Longer waits than this are as good as for ever (RFC 9111 §1.2.2).
  private static let longest: Int64 = 1 << 31

  private static let millisecondsName = HTTPField.Name("retry-after-ms")

  static func delay(in fields: HTTPFields) -> Duration? {
    if let name = millisecondsName, let text = fields[name], isNumber(text) {
      return .milliseconds(min(Int64(text) ?? .max, longest * 1000))
    }
    guard let text = fields[.retryAfter], !text.isEmpty else { return nil }
    if isNumber(text) { return .seconds(min(Int64(text) ?? longest, longest)) }
    guard let date = HTTPDate.parse(text), let now = fields[.date].flatMap(HTTPDate.parse) else { return nil }
    return .seconds(min(max(0, date - now), longest))
  }

  private static func isNumber(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
  }
}

extension Content {
  /// The complete content of a response; empty if it still arrives.
  init(of response: ResponseMessage, coding: CodingOptions) {
    self.init(
      data: response.content.bytes ?? Data(),
      mediaType: response.head.headerFields.first { $0.name == .contentType }.map { MediaType($0.value) },
      status: response.head.status.code, coding: coding)
  }
}

extension ResponseMessage {
  /// Whether a head refers the client to another URL that it may go to by itself (RFC 9110 §15.4).
  ///
  /// The statuses 301, 302, 303, 307 and 308, with a `Location` that is not empty. The others mean something else: a
  /// choice that a person has to make (300), a stored response that is good still (304), nothing any more (305, 306).
  public static func isRedirect(_ head: HTTPResponse) -> Bool {
    switch head.status.code {
    case 301, 302, 303, 307, 308:
      head.headerFields[values: .location].contains { $0.utf8.contains { $0 != 0x20 && $0 != 0x09 } }
    default: false
    }
  }
}

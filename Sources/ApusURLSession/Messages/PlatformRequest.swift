import ApusCore
import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A request message in the form that the platform sends.
struct PlatformRequest: Sendable {
  let urlRequest: URLRequest
  let origin: Origin
  let content: MessageContent
  let outgoing: OutgoingContent
  let isHead: Bool

  /// Whether the exchange must not reuse a connection.
  ///
  /// If a reused connection turns out to be closed, libcurl retries the request by itself, even if it may not be sent
  /// twice. A request with content then waits indefinitely, because the platform cannot restart the content.
  var needsOwnConnection: Bool {
    #if canImport(Security)
    false
    #else
    content.length != 0 || !isRepeatable
    #endif
  }

  private let isRepeatable: Bool

  /// The length of the content, if it is known.
  var contentLength: Int64? { content.length }

  /// Converts a message without changing anything that is sent.
  ///
  /// - Throws: `TransportError` if its content cannot be produced, with the code `invalidRequest` if the platform would
  ///   change the message; `CancellationError`.
  init(_ message: RequestMessage, userAgent: String, in context: ExchangeContext) async throws {
    guard let origin = message.origin else { throw Self.unsupported("the message has no http or https origin") }
    self.origin = origin
    var request = URLRequest(url: try Self.url(of: message))
    let method = message.head.method.rawValue
    request.httpMethod = method
    guard request.httpMethod == method else {
      throw Self.unsupported("URLSession changes the method \(method)")
    }
    #if !canImport(Security)
    guard message.content.length == 0 || method != "GET" else {
      throw Self.unsupported("URLSession sends no content with GET on this platform")
    }
    #endif
    request.allHTTPHeaderFields = Self.fields(of: message, userAgent: userAgent)
    request.httpShouldHandleCookies = false
    urlRequest = request
    content = message.content
    isHead = message.head.method == .head
    isRepeatable = context.isRepeatable(message.head)
    outgoing = try await OutgoingContent(message.content, in: context)
  }

  private static func url(of message: RequestMessage) throws -> URL {
    guard message.head.authority?.utf8.contains(UInt8(ascii: "@")) == false else {
      throw unsupported("the message has no http or https origin")
    }
    guard message.target.hasPrefix("/") else { throw unsupported("the target is not a path") }
    guard !message.target.utf8.contains(UInt8(ascii: "#")) else { throw unsupported("the target contains a fragment") }
    guard !hasDotSegment(message.target) else { throw unsupported("the target contains a dot segment") }
    let text = message.url
    guard let url = URL(string: text), url.absoluteString == text else {
      throw unsupported("URLSession changes the target")
    }
    return url
  }

  /// Whether the platform would normalize the path (RFC 3986 §5.2.4).
  private static func hasDotSegment(_ target: String) -> Bool {
    guard target.utf8.contains(UInt8(ascii: ".")) || target.utf8.contains(UInt8(ascii: "%")) else { return false }
    let path = target.prefix { $0 != "?" }
    return path.split(separator: "/").contains { segment in
      let plain = segment.lowercased().replacing("%2e", with: ".")
      return plain == "." || plain == ".."
    }
  }

  private static func fields(of message: RequestMessage, userAgent: String) -> [String: String] {
    var fields: [String: String] = [:]
    for field in message.head.headerFields where fields[field.name.rawName] == nil {
      // All values of the name, joined by the rules of that field.
      fields[field.name.rawName] = message.head.headerFields[field.name]
    }
    if message.head.headerFields[.userAgent] == nil { fields["User-Agent"] = userAgent }
    if needsType(message) { fields["Content-Type"] = "application/octet-stream" }
    return fields
  }

  /// Whether the platform would label content without a type as a form. Such content is labeled as bytes instead,
  /// because a recipient may assume bytes anyway (RFC 9110 §8.3).
  private static func needsType(_ message: RequestMessage) -> Bool {
    guard message.head.headerFields[.contentType] == nil else { return false }
    #if canImport(Security)
    return message.content.length != 0
    #else
    return switch message.content {
    case .stream, .joined: true
    default: false
    }
    #endif
  }

  private static func unsupported(_ detail: String) -> TransportError {
    TransportError(.invalidRequest, requestState: .notSent, detail: detail)
  }
}

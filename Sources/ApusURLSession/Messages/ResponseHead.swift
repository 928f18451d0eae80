import ApusCore
import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The head of an answer, brought to describe the content as it is delivered.
struct ResponseHead {
  let response: HTTPResponse
  /// Bytes of content to expect, when the server said so and they arrive as they were sent.
  let contentLength: Int64?

  /// Whether another head follows (RFC 9110 §15.2).
  var isInterim: Bool { response.status.code < 200 }

  /// `nil` for what is no answer of HTTP, or one to a question that was not asked.
  init?(_ platform: URLResponse, to request: PreparedRequest) {
    guard let platform = platform as? HTTPURLResponse, (100...999).contains(platform.statusCode),
      platform.statusCode != 101
    else { return nil }
    var fields = HTTPFields()
    for (name, value) in platform.allHeaderFields {
      guard let name = (name as? String).flatMap({ HTTPField.Name($0) }), let value = value as? String else { continue }
      if name == .setCookie {
        for cookie in SetCookieLine.split(value) { fields.append(HTTPField(name: name, value: cookie)) }
      } else {
        fields.append(HTTPField(name: name, value: value))
      }
    }
    if let length = fields[.contentLength] {
      // Several lengths that disagree leave open where the answer ends (RFC 9112 §6.3).
      guard let number = Self.length(length) else { return nil }
      fields[.contentLength] = String(number)
    }
    let status = platform.statusCode
    let hasContent = !request.isHead && status >= 200 && status != 204 && status != 304
    if hasContent, Self.isDecoded(fields[.contentEncoding]) {
      fields[.contentEncoding] = nil
      fields[.contentLength] = nil
    }
    response = HTTPResponse(status: HTTPResponse.Status(code: status), headerFields: fields)
    contentLength = hasContent ? fields[.contentLength].flatMap { Int64($0) } : nil
  }

  /// The head of a redirect that the session ends without ever reporting it, because it names no usable
  /// `Location`; on Linux its content is lost on the way, so the head tells of none.
  init?(unreported task: URLSessionTask, of request: PreparedRequest) {
    guard let platform = task.response, let head = ResponseHead(platform, to: request),
      (300...399).contains(head.response.status.code)
    else { return nil }
    var response = head.response
    if !request.isHead {
      for name in [HTTPField.Name.contentLength, .contentType, .contentEncoding] { response.headerFields[name] = nil }
    }
    self.response = response
    contentLength = nil
  }

  /// The message whose content arrives through `content`.
  func message(_ content: ContentChannel) -> ResponseMessage {
    ResponseMessage(head: response, content: ResponseContent(source: content, expectedLength: contentLength))
  }

  private static func length(_ lengths: String) -> Int64? {
    let numbers = Set(lengths.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) })
    guard numbers.count == 1, let number = numbers.first, number.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
      return nil
    }
    return Int64(number)
  }

  /// Whether the session has taken the codings of the content off (RFC 9110 §8.4).
  private static func isDecoded(_ codings: String?) -> Bool {
    guard let codings else { return false }
    return codings.lowercased().split(separator: ",").allSatisfy { coding in
      decoded.contains(coding.trimmingCharacters(in: .whitespaces))
    }
  }

  #if canImport(Security)
    private static let decoded: Set<String> = ["gzip", "x-gzip", "deflate", "br", "identity"]
  #else
    private static let decoded: Set<String> = ["gzip", "x-gzip", "deflate", "br", "zstd", "identity"]
  #endif
}

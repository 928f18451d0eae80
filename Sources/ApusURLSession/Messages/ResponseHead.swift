import ApusCore
import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The head of a response, adapted to describe the content as it is delivered.
struct ResponseHead {
  let response: HTTPResponse
  /// The length of the content, if the server announced it and the content is not decoded.
  let contentLength: Int64?

  /// Whether the content is decoded.
  private let isDecoded: Bool

  /// Whether another head follows (RFC 9110 §15.2).
  var isInterim: Bool { response.status.code < 200 }

  /// Creates a head; `nil` if the response is not HTTP, or switches protocols.
  init?(_ platform: URLResponse, to request: PlatformRequest) {
    guard let platform = platform as? HTTPURLResponse, (100...999).contains(platform.statusCode),
      platform.statusCode != 101
    else { return nil }
    var fields = HTTPFields()
    for (name, value) in platform.allHeaderFields {
      guard fields.count < Self.mostFields else { return nil }
      guard let name = (name as? String).flatMap({ HTTPField.Name($0) }), let value = value as? String else { continue }
      let values = Self.values(value, of: name)
      guard values.count < Self.mostFields else { return nil }
      for value in values { fields.append(HTTPField(name: name, value: value)) }
    }
    if let length = fields[.contentLength] {
      // Conflicting lengths leave the end of the response undefined (RFC 9112 §6.3).
      guard let number = Self.length(length) else { return nil }
      fields[.contentLength] = String(number)
    }
    let status = platform.statusCode
    let hasContent = !request.isHead && status >= 200 && status != 204 && status != 304
    let codings = fields.contentCodings
    // Whether the session has decoded the content (RFC 9110 §8.4).
    let describesDecoded =
      hasContent && fields.contains(.contentEncoding) && codings.allSatisfy { Self.decoded.contains($0) }
    isDecoded = describesDecoded && codings.contains { $0 != "identity" }
    if describesDecoded {
      fields[.contentEncoding] = nil
      fields[.contentLength] = nil
    }
    response = HTTPResponse(status: HTTPResponse.Status(code: status), headerFields: fields)
    contentLength = hasContent ? fields[.contentLength].flatMap { Int64($0) } : nil
  }

  /// Creates the head of a redirect that the session never reports because its `Location` is unusable. On Linux its
  /// content is lost, so the head announces no content.
  init?(unreported task: URLSessionTask, of request: PlatformRequest) {
    guard let platform = task.response, let head = ResponseHead(platform, to: request),
      (300...399).contains(head.response.status.code)
    else { return nil }
    var response = head.response
    if !request.isHead {
      for name in [HTTPField.Name.contentLength, .contentType, .contentEncoding] { response.headerFields[name] = nil }
    }
    self.response = response
    contentLength = nil
    isDecoded = false
  }

  /// Returns the values of the fields that the platform has joined to one value.
  private static func values(_ value: String, of name: HTTPField.Name) -> [String] {
    switch name {
    case .setCookie: SetCookieLine.split(value)
    case .location: LocationLine.split(value)
    default: [value]
    }
  }

  /// The maximum number of fields that are read from a response.
  private static let mostFields = 1000

  /// Returns the message whose content arrives through `source`.
  func message(_ source: any ContentSource) -> ResponseMessage {
    message(ResponseContent(source: source, expectedLength: contentLength))
  }

  /// Returns the message with content.
  func message(_ content: ResponseContent) -> ResponseMessage {
    var content = content
    content.isDecoded = isDecoded
    return ResponseMessage(head: response, content: content)
  }

  private static func length(_ lengths: String) -> Int64? {
    let numbers = Set(lengths.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) })
    guard numbers.count == 1, let number = numbers.first, number.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
      return nil
    }
    return Int64(number)
  }

  /// The codings that the session decodes.
  #if canImport(Security)
  private static let decoded: Set<String> = ["gzip", "x-gzip", "deflate", "br", "identity"]
  #else
  private static let decoded: Set<String> = ["gzip", "x-gzip", "deflate", "br", "zstd", "identity"]
  #endif
}

extension HTTPVersion {
  /// Creates the version with the platform's name of a protocol, which is that of ALPN (RFC 7301 §6); `nil` for other
  /// versions.
  init?(networkProtocolName name: String) {
    switch name {
    case "http/1.1": self = .http1
    case "h2": self = .http2
    default: return nil
    }
  }
}

/// The splitting of `Set-Cookie` lines that the platform has joined by commas.
///
/// These lines must not be joined (RFC 9110 §5.3), because their dates contain commas. A comma followed by a token and
/// an equals sign begins the next line; in a date, no equals sign follows.
enum SetCookieLine {
  static func split(_ joined: String) -> [String] {
    // Parsed as bytes: a combining mark after a comma would merge with it into one Character and hide it.
    let bytes = Array(joined.utf8)
    var lines: [String] = []
    var start = 0
    for comma in bytes.indices where bytes[comma] == UInt8(ascii: ",") {
      let next = bytes[(comma + 1)...].drop { $0 == UInt8(ascii: " ") }
      guard beginsWithName(next) else { continue }
      lines.append(String(decoding: bytes[start..<comma], as: UTF8.self))
      start = next.startIndex
    }
    lines.append(String(decoding: bytes[start...], as: UTF8.self))
    return lines
  }

  private static func beginsWithName(_ text: ArraySlice<UInt8>) -> Bool {
    let end = text.firstIndex { "= ;,\"".utf8.contains($0) } ?? text.endIndex
    return end > text.startIndex && end < text.endIndex && text[end] == UInt8(ascii: "=")
  }
}

/// The splitting of `Location` fields that the platform has joined by commas.
///
/// A response has one `Location` field, and its URL may contain a comma and a space (RFC 9110 §10.2.2). The next field
/// is therefore assumed only at a comma before a complete URL or an absolute path, or between equal halves.
enum LocationLine {
  static func split(_ joined: String) -> [String] {
    let bytes = Array(joined.utf8)
    let middle = bytes.count / 2 - 1
    if bytes.count % 2 == 0, middle > 0, bytes[middle...].starts(with: ", ".utf8),
      bytes[..<middle] == bytes[(middle + 2)...]
    {
      return [String(decoding: bytes[..<middle], as: UTF8.self), String(decoding: bytes[..<middle], as: UTF8.self)]
    }
    var lines: [String] = []
    var start = 0
    for comma in bytes.indices.dropFirst() where bytes[comma] == UInt8(ascii: ",") {
      let next = bytes[(comma + 1)...]
      guard comma > start, next.first == UInt8(ascii: " "), beginsURL(next.dropFirst()) else { continue }
      lines.append(String(decoding: bytes[start..<comma], as: UTF8.self))
      start = comma + 2
    }
    lines.append(String(decoding: bytes[start...], as: UTF8.self))
    return lines
  }

  private static func beginsURL(_ text: ArraySlice<UInt8>) -> Bool {
    if text.first == UInt8(ascii: "/") { return true }
    let scheme = String(decoding: text.prefix(8), as: UTF8.self).lowercased()
    return scheme.hasPrefix("http://") || scheme.hasPrefix("https://")
  }
}

import Foundation
import HTTPTypes
import NIOHTTP1

/// A request with its content.
struct Request: Sendable {
  /// The maximum number of bytes of content that the server stores.
  static let contentLimit = 1024 * 1024

  let head: HTTPRequest
  /// The target up to the question mark.
  let path: String
  /// The target after the question mark; `nil` without one.
  let query: String?
  /// The content; `nil` when it has more than ``contentLimit`` bytes.
  private let content: Data?

  init(_ head: HTTPRequest, content: Data?) {
    self.head = head
    self.content = content
    (path, query) = Self.parts(of: head)
  }

  var method: HTTPRequest.Method { head.method }
  var headers: HTTPFields { head.headerFields }

  /// Returns the content.
  ///
  /// - Throws: `Problem` with status 413 when the content has more bytes than the limit.
  func content(upTo limit: Int) throws(Problem) -> Data {
    guard let content, content.count <= limit else {
      throw Problem(.contentTooLarge, "The content has more than \(limit) bytes.")
    }
    return content
  }

  /// Returns the path and the query of a request.
  static func parts(of head: HTTPRequest) -> (path: String, query: String?) {
    // Split by bytes: a combining mark after the question mark would merge with it into one character.
    let parts = (head.path ?? "").utf8.split(
      separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false
    )
    .map { String(Substring($0)) }
    return (parts.first ?? "", parts.count > 1 ? parts[1] : nil)
  }
}

extension HTTPRequest {
  /// Converts a request that SwiftNIO parsed; `nil` for an invalid method.
  init?(_ head: HTTPRequestHead) {
    guard let method = Method(head.method.rawValue) else { return nil }
    var authority: String?
    var fields = HTTPFields()
    for (name, value) in head.headers {
      if authority == nil, name.lowercased() == "host" {
        authority = value
      } else if let name = HTTPField.Name(name) {
        fields.append(HTTPField(name: name, value: value))
      }
    }
    self.init(method: method, scheme: "http", authority: authority, path: head.uri, headerFields: fields)
  }
}

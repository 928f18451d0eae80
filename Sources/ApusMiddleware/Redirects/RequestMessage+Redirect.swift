import ApusCore
import HTTPTypes

extension RequestMessage {
  /// Changes the method as a redirect's status says (RFC 9110 §15.4): 303 asks for another resource to be got; after 301
  /// and 302 everybody has always turned a POST into a GET. Content goes with the method that it belonged to.
  mutating func adaptMethod(to status: HTTPResponse.Status) {
    switch status.code {
    case 303: if head.method != .head { head.method = .get }
    case 301 where head.method == .post, 302 where head.method == .post: head.method = .get
    default: return
    }
    content = .empty
    head.headerFields.removeAll { field in
      let name = field.name.canonicalName
      return name.utf8.starts(with: "content-".utf8) || Self.contentFields.contains(name)
    }
  }

  /// Fields that describe content without saying so in their name.
  private static let contentFields: Set<String> = ["digest", "repr-digest", "last-modified", "expect"]

  /// Tells another origin no more than it must know of where a request came from.
  ///
  /// Of the page that `Referer` names remains the origin, and nothing on the way from https to http; for `Origin` there
  /// is nobody whom the other server could trust more for it (RFC 6454 §7.2).
  mutating func generaliseSource(to: Origin) {
    if let referer = head.headerFields[.referer] {
      let bytes = referer.utf8
      let authority = bytes.drop { $0 != UInt8(ascii: "/") }.dropFirst(2)
      let end = authority.firstIndex { "/?#".utf8.contains($0) } ?? bytes.endIndex
      let source = (try? BaseURL(String(referer[..<end])))?.origin
      let isDowngrade = source?.scheme == "https" && to.scheme == "http"
      head.headerFields[.referer] = isDowngrade ? nil : source.map { "\($0)/" }
    }
    if head.headerFields[.origin] != nil { head.headerFields[.origin] = "null" }
  }
}

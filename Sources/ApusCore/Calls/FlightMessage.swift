import HTTPTypes

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A message as it is compared with others: whether one answer can be that of both.
struct FlightMessage: Hashable, Sendable {
  enum Content: Hashable, Sendable {
    case empty
    case bytes(Data)
    case file(ContentFile)
  }

  let head: HTTPRequest
  let content: Content

  /// The message as it is, for calls that name each other; `nil` for content that is a stream: it cannot be compared.
  init?(_ request: RequestMessage) {
    head = request.head
    switch request.content {
    case .empty: content = .empty
    case .bytes(let data): content = .bytes(data)
    case .file(let file): content = .file(file)
    case .stream: return nil
    }
  }

  /// What of a message makes another the same, for calls that do not name each other; `nil` when it shares with none.
  ///
  /// The target is compared as it is sent: what RFC 3986 §6.2 calls equivalent, a server may tell apart.
  ///
  /// - Parameter perCallFields: names, in lower case, of fields that are not looked at.
  init?(coalescing request: RequestMessage, but perCallFields: Set<String>) {
    // A file may have become another one meanwhile.
    if case .file = request.content { return nil }
    guard request.head.method.isSafe, let whole = FlightMessage(request) else { return nil }
    var head = whole.head
    if let origin = request.origin {
      head.scheme = origin.scheme
      head.authority = origin.authority
    }
    head.headerFields.removeAll { perCallFields.contains($0.name.canonicalName) }
    self.head = head
    content = whole.content
  }
}

extension HTTPRequest.Method {
  /// Whether a request only asks (RFC 9110 §9.2.1, RFC 10008 §2). TRACE is left out: its answer is the message itself.
  fileprivate var isSafe: Bool {
    self == .get || self == .head || self == .options || self == .query
  }
}

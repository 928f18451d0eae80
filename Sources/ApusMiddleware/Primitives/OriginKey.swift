import ApusCore
import HTTPTypes

/// The origin of a message as written in its head, so that origins can be compared without parsing.
///
/// `ApusCore` normalizes base URLs to the form that `Origin` uses.
struct OriginKey: Hashable, Sendable {
  let scheme: String
  let authority: String

  init(_ origin: Origin) {
    scheme = origin.scheme
    authority = origin.authority
  }

  /// Creates the key of a request head; `nil` if the head has no scheme or no authority.
  init?(_ head: HTTPRequest) {
    guard let scheme = head.scheme, let authority = head.authority else { return nil }
    self.scheme = scheme
    self.authority = authority
  }
}

import ApusCore
import HTTPTypes

/// An origin as a message names it: compared as written, so that finding what belongs to it costs no parsing.
///
/// What core makes of a base URL is in the one form that `Origin` writes.
struct OriginKey: Hashable, Sendable {
  let scheme: String
  let authority: String

  init(_ origin: Origin) {
    scheme = origin.scheme
    authority = origin.authority
  }

  /// `nil` when the head names none.
  init?(_ head: HTTPRequest) {
    guard let scheme = head.scheme, let authority = head.authority else { return nil }
    self.scheme = scheme
    self.authority = authority
  }
}

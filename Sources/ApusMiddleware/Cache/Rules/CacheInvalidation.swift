import ApusCore
import HTTPTypes

/// The targets and groups that a response to an unsafe request invalidates at its origin (RFC 9111 §4.4, RFC 9875 §3).
struct CacheInvalidation: Hashable, Sendable {
  let origin: Origin
  /// The request targets: path and query.
  var targets: Set<String> = []
  /// The groups.
  var groups: Set<String> = []

  /// Creates an invalidation of an origin.
  init(_ origin: Origin, targets: Set<String> = [], groups: Set<String> = []) {
    (self.origin, self.targets, self.groups) = (origin, targets, groups)
  }

  /// Reads a response. `nil` for a safe method and for an error.
  ///
  /// The target of the request is invalidated, and the URLs in `Location` and `Content-Location` if they have the same
  /// origin: a response must not remove what other servers have sent. Malformed URLs are ignored.
  init?(after response: HTTPResponse, to request: HTTPRequest, at origin: Origin) {
    guard !request.method.isSafe, (200..<400).contains(response.status.code) else { return nil }
    self.origin = origin
    let target = request.path ?? "/"
    targets = [target]
    for name in [HTTPField.Name.location, .contentLocation] where response.headerFields.contains(name) {
      guard let text = response.headerFields.single(name),
        let named = try? URLReference(Array(text.utf8)[...].trimmed, relativeTo: (origin, target)),
        named.origin == origin
      else { continue }
      targets.insert(named.target)
    }
    groups = CacheGroups.groups(in: response.headerFields, CacheGroups.invalidation)
  }
}

import ApusCore
import HTTPTypes

/// Whether a middleware has added conditions to the message, which name responses of its URL, so that the target of a
/// redirect must not get them. Default: `false`.
enum OwnConditionsKey: ContextKey {
  static let defaultValue = false
  /// The message shows the conditions.
  static let affectsCoalescing = false
}

extension HTTPFields {
  /// Removes `If-None-Match` and `If-Modified-Since`.
  mutating func removeOwnConditions() {
    self[.ifNoneMatch] = nil
    self[.ifModifiedSince] = nil
  }
}

public import ApusCore

/// What one circuit breaks for: an origin, or a group of endpoints there.
public struct BreakerScope: Sendable, Hashable, CustomStringConvertible {
  /// Where the server is.
  public let origin: Origin
  /// The group that endpoints name with `breaker(.group(…))`; `nil`: all that name none.
  public let group: String?

  /// Names a circuit. Default: that of all endpoints without a group.
  public init(_ origin: Origin, group: String? = nil) {
    self.origin = origin
    self.group = group
  }

  /// The origin, and the group where there is one.
  public var description: String { group.map { "\(origin) (\($0))" } ?? "\(origin)" }
}

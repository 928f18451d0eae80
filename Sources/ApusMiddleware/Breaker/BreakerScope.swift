public import ApusCore
public import HTTPTypes

/// What one circuit of a ``CircuitBreaker`` is for: an origin, an endpoint there, or a group of endpoints there.
public struct BreakerScope: Sendable, Hashable, CustomStringConvertible {
  /// Where the server is.
  public let origin: Origin
  let part: BreakerPart?

  /// The circuit of an origin, or of a group of endpoints there.
  ///
  /// - Parameters:
  ///   - origin: where the server is.
  ///   - group: the name that endpoints give with `breaker(.group(…))`. Default: `nil`, the origin's own circuit.
  public init(_ origin: Origin, group: String? = nil) {
    self.origin = origin
    part = group.map { .group($0) }
  }

  /// The circuit of an endpoint.
  ///
  /// - Parameters:
  ///   - origin: where the server is.
  ///   - method: the endpoint's method.
  ///   - template: its path with each value replaced by its placeholder, for example `/users/{}`.
  public init(_ origin: Origin, _ method: HTTPRequest.Method, _ template: String) {
    self.origin = origin
    part = .endpoint(method: method.rawValue, template: template)
  }

  init(_ origin: Origin, _ part: BreakerPart?) {
    self.origin = origin
    self.part = part
  }

  /// The endpoint, for example `GET /users/{}`; `nil` for the circuit of an origin or a group.
  public var endpoint: String? {
    guard case .endpoint(let method, let template)? = part else { return nil }
    return "\(method) \(template)"
  }

  /// The name of the group; `nil` for the circuit of an origin or an endpoint.
  public var group: String? {
    guard case .group(let name)? = part else { return nil }
    return name
  }

  /// The origin, and in parentheses the endpoint or the group where there is one.
  public var description: String { (endpoint ?? group).map { "\(origin) (\($0))" } ?? "\(origin)" }
}

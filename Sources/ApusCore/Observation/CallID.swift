public import HTTPTypes

/// The identity of a call: a serial number that the client assigns, or a name that the app chooses.
public struct CallID: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
  private enum Storage: Hashable {
    case serial(UInt64)
    case name(String)
  }

  private let storage: Storage

  /// Creates an id with a name. The call's ``DuplicatePolicy`` determines the outcome if a running call has the same
  /// id.
  public init(_ name: String) {
    storage = .name(name)
  }

  /// Creates an id with a name.
  public init(stringLiteral value: String) {
    self.init(value)
  }

  init(serial: UInt64) {
    storage = .serial(serial)
  }

  /// The serial number, or `nil` for a name.
  var serial: UInt64? {
    if case .serial(let number) = storage { return number }
    return nil
  }

  /// Whether the id is a name that the app chose.
  package var isNamed: Bool {
    if case .name = storage { return true }
    return false
  }

  /// The name, or `#` and the serial number.
  public var description: String {
    switch storage {
    case .serial(let number): "#\(number)"
    case .name(let name): name
    }
  }
}

/// The identity of an endpoint, for traces and metrics and for cancelling all calls of one endpoint.
public struct EndpointIdentity: Sendable, Hashable, CustomStringConvertible {
  /// The endpoint's type, or `nil` for a ``Request`` that is used directly.
  public let type: (any Sendable.Type)?
  /// The method.
  public let method: HTTPRequest.Method
  /// The path with each interpolated value replaced by `{}` or `{name}`, or the origin of a complete URL with `{url}`
  /// in place of its path. Safe for logs and metrics.
  public let template: String

  package init(method: HTTPRequest.Method, template: String, type: (any Sendable.Type)? = nil) {
    (self.type, self.method, self.template) = (type, method, template)
  }

  /// The type's name if there is one, the method and the template, for example `GetUser GET /users/{}`.
  public var description: String {
    let route = "\(method.rawValue) \(template)"
    return type.map { "\($0) \(route)" } ?? route
  }

  /// Whether both have the same type, method and template.
  public static func == (lhs: EndpointIdentity, rhs: EndpointIdentity) -> Bool {
    lhs.type.map { ObjectIdentifier($0) } == rhs.type.map { ObjectIdentifier($0) } && lhs.method == rhs.method
      && lhs.template == rhs.template
  }

  /// Hashes type, method and template.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(type.map { ObjectIdentifier($0) })
    hasher.combine(method)
    hasher.combine(template)
  }
}

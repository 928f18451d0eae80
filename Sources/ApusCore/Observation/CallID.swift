public import HTTPTypes

/// Names a call: a number that the client counts up, or a name that the app chose.
public struct CallID: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
  private enum Storage: Hashable {
    case serial(UInt64)
    case name(String)
  }

  private let storage: Storage

  /// A name of the app's own; what happens while another call has it is the call's ``DuplicatePolicy``.
  public init(_ name: String) {
    storage = .name(name)
  }

  /// A name of the app's own.
  public init(stringLiteral value: String) {
    self.init(value)
  }

  init(serial: UInt64) {
    storage = .serial(serial)
  }

  /// The number, when it is one.
  var serial: UInt64? {
    if case .serial(let number) = storage { return number }
    return nil
  }

  /// Whether the app chose it.
  public var isNamed: Bool {
    if case .name = storage { return true }
    return false
  }

  /// The name, or `#` and the number.
  public var description: String {
    switch storage {
    case .serial(let number): "#\(number)"
    case .name(let name): name
    }
  }
}

/// Which endpoint a call is of: for traces, metrics and for cancelling all calls of one endpoint.
public struct EndpointIdentity: Sendable, Hashable, CustomStringConvertible {
  /// The endpoint's type; `nil` for requests written in place.
  public let type: (any Sendable.Type)?
  /// The method.
  public let method: HTTPRequest.Method
  /// The path with each interpolated value replaced by `{}` or `{name}`: safe for logs and metrics.
  public let template: String

  /// Names an endpoint, for fakes and previews.
  ///
  /// - Parameters:
  ///   - method: the method.
  ///   - template: the path, with `{}` or `{name}` for each value.
  ///   - type: the endpoint's type. Default: `nil`, a request written in place.
  public init(method: HTTPRequest.Method, template: String, type: (any Sendable.Type)? = nil) {
    (self.type, self.method, self.template) = (type, method, template)
  }

  /// Method and template, after the type's name where there is one: `GetUser GET /users/{}`.
  public var description: String {
    let place = "\(method.rawValue) \(template)"
    return type.map { "\($0) \(place)" } ?? place
  }

  /// Whether both are of one type and have the same method and template.
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

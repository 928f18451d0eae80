public import HTTPTypes

/// Which endpoint a call is of: for traces, metrics and for cancelling all calls of one endpoint.
public struct EndpointIdentity: Sendable, Hashable, CustomStringConvertible {
  /// The endpoint's type; `nil` for requests written in place.
  public let type: (any Endpoint.Type)?
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
  public init(method: HTTPRequest.Method, template: String, type: (any Endpoint.Type)? = nil) {
    (self.type, self.method, self.template) = (type, method, template)
  }

  /// Reads the box in place: each call is asked for its endpoint more than once, and a copy of what it describes costs more
  /// than the three parts.
  init(of request: RequestBox) {
    type = request.description.endpointType
    method = request.description.method
    template = request.description.path.template
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

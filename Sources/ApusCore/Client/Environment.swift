/// Which server a client talks to and what every call to it carries: production, staging, a tenant.
///
/// A value; ``Client/use(_:)`` switches a client to another one while calls are in flight. Each call keeps
/// the environment it began in, so URLs, fields and credentials never mix.
public struct Environment: Sendable {
  /// A name for logs, for example `staging`.
  public var name: String
  /// Where the server is.
  public var baseURL: BaseURL
  /// Fields on every request; the request's own win, whatever their case.
  public var fields: [RawField] = []
  /// Query parameters on every request; the request's own with the same name win.
  public var query: Query = [:]
  /// Settings for middlewares that belong to this server, for example how to authenticate.
  public var values = ContextValues()

  /// Makes an environment without common fields and parameters.
  public init(_ name: String = "default", baseURL: BaseURL) {
    self.name = name
    self.baseURL = baseURL
  }

  /// Sets a common field.
  public mutating func setField(_ name: String, _ value: String) {
    fields.removeAll { $0.name.utf8.lowercasedEqual(name.utf8) }
    fields.append(RawField(name, value))
  }
}

import HTTPTypes

/// Which server a client talks to and what every call to it carries: production, staging, a tenant.
///
/// A value; ``Client/use(_:)`` switches a client to another one while calls are in flight. Each call keeps
/// the environment it began in, so URLs, fields and credentials never mix.
public struct Environment: Sendable {
  private struct Parts: Sendable {
    var name: String
    var baseURL: BaseURL
    var fields: [RawField] = []
    var query: Query = [:]
    var values = ContextValues()
  }

  /// Every call hands its environment to several middlewares: one reference is all that is copied.
  private final class Box: Sendable {
    let parts: Parts

    init(_ parts: Parts) {
      self.parts = parts
    }
  }

  private var box: Box

  private var parts: Parts {
    get { box.parts }
    set { box = Box(newValue) }
  }

  /// Makes an environment without common fields and parameters.
  public init(_ name: String = "default", baseURL: BaseURL) {
    box = Box(Parts(name: name, baseURL: baseURL))
  }

  /// A name for logs, for example `staging`.
  public var name: String {
    get { box.parts.name }
    set { parts.name = newValue }
  }

  /// Where the server is.
  public var baseURL: BaseURL {
    get { box.parts.baseURL }
    set { parts.baseURL = newValue }
  }

  /// Fields on every request; the request's own win, whatever their case.
  public var fields: [RawField] {
    get { box.parts.fields }
    set { parts.fields = newValue }
  }

  /// Query parameters on every request; the request's own with the same name win.
  public var query: Query {
    get { box.parts.query }
    set { parts.query = newValue }
  }

  /// Settings for middlewares that belong to this server, for example how to authenticate.
  public var values: ContextValues {
    get { box.parts.values }
    set { parts.values = newValue }
  }

  /// Sets a common field.
  ///
  /// - Parameters:
  ///   - name: the name.
  ///   - value: the value.
  ///   - isSensitive: whether it is a secret, see ``RawField/isSensitive``. Default: it is not.
  public mutating func setField(_ name: String, _ value: String, isSensitive: Bool = false) {
    fields.removeAll { $0.name.utf8.lowercasedEqual(name.utf8) }
    fields.append(RawField(name, value, isSensitive: isSensitive))
  }
}

extension Environment: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The name and the base URL: common fields, parameters and settings may hold secrets.
  public var description: String { "\(name) (\(baseURL))" }
  /// The same as ``description``.
  public var debugDescription: String { description }
  /// Shows ``description`` alone.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

/// An environment with everything worked out once that every call needs of it.
final class PreparedEnvironment: Sendable {
  let environment: Environment
  let base: Result<BaseURL.Parts, CallFault>
  /// The environment's own `Accept`, which counts where an endpoint asks for nothing in particular.
  let accept: HTTPFields?

  init(_ environment: Environment) {
    self.environment = environment
    base = environment.baseURL.parts.mapError { CallFault(.invalidRequest, "\($0)") }
    // One that cannot be sent is refused where all common fields are added.
    accept = environment.fields.lazy.compactMap { try? FieldRules.field($0) }.first { $0.name == .accept }
      .map { HTTPFields([$0]) }
  }
}

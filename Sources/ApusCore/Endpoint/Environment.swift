import HTTPTypes

/// The server of a client and the settings common to all calls, for example production or staging.
///
/// ``Client/use(_:)`` switches a client to another environment while calls are in flight. Each call keeps the
/// environment in which it began, so that URLs, fields and credentials never mix.
public struct Environment: Sendable {
  private struct Parts: Sendable {
    var name: String
    var baseURL: BaseURL
    var fields: [RawField] = []
    var query: Query = [:]
    var values = ContextValues()
  }

  /// Each call copies its environment several times. With a box, each copy costs one retain.
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

  /// Creates an environment without common fields and parameters.
  public init(_ name: String = "default", baseURL: BaseURL) {
    box = Box(Parts(name: name, baseURL: baseURL))
  }

  /// A name for logs, for example `staging`.
  public var name: String {
    get { box.parts.name }
    set { parts.name = newValue }
  }

  /// The URL that all paths are relative to.
  public var baseURL: BaseURL {
    get { box.parts.baseURL }
    set { parts.baseURL = newValue }
  }

  /// The fields (headers) added to every request. A request's own field with the same name, ignoring case, takes
  /// precedence.
  public var fields: [RawField] {
    get { box.parts.fields }
    set { parts.fields = newValue }
  }

  /// The query parameters added to every request. A request's own parameter with the same name takes precedence.
  public var query: Query {
    get { box.parts.query }
    set { parts.query = newValue }
  }

  /// The settings for middlewares that belong to this server, for example its authentication.
  public var values: ContextValues {
    get { box.parts.values }
    set { parts.values = newValue }
  }

  /// Sets a common field.
  ///
  /// - Parameters:
  ///   - name: the name.
  ///   - value: the value.
  ///   - isSensitive: whether the value is a secret, see ``RawField/isSensitive``. Default: `false`.
  public mutating func setField(_ name: String, _ value: String, isSensitive: Bool = false) {
    fields.replace(with: RawField(name, value, isSensitive: isSensitive))
  }
}

extension Environment: SelfRedacting {
  /// The name and the base URL. Fields, parameters and settings are omitted, because they may contain secrets.
  public var description: String { "\(name) (\(baseURL))" }
}

/// An environment with values derived from it, computed once for all calls.
final class PreparedEnvironment: Sendable {
  let environment: Environment
  let baseURL: Result<BaseURL.Parts, CallFault>
  /// Whether the environment has settings for middlewares. Stored, because reading the settings copies them.
  let hasValues: Bool
  /// Whether the environment has fields or query parameters for all messages.
  let hasCommonParameters: Bool
  /// The environment's own `Accept`, for endpoints that do not request a specific media type.
  let accept: HTTPFields?

  init(_ environment: Environment) {
    self.environment = environment
    hasValues = !environment.values.isEmpty
    hasCommonParameters = !environment.fields.isEmpty || !environment.query.isEmpty
    baseURL = environment.baseURL.parts.mapError { CallFault(.invalidRequest, "\($0)") }
    // An invalid `Accept` is reported later, when all common fields are added.
    accept = environment.fields.lazy.compactMap { try? FieldRules.field($0) }.first { $0.name == .accept }
      .map { HTTPFields([$0]) }
  }
}

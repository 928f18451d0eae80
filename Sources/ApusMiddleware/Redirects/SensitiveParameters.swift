public import ApusCore

/// Where calls and environments keep the names of query parameters that prove who is calling.
///
/// A redirect that repeats such a parameter and leads to another origin is followed without it. The parameter of
/// ``Authentication/apiKey(_:queryParameter:origins:)`` is one without being named here. For fields there is
/// ``RawField/isSensitive``.
public enum SensitiveParameters: ContextKey {
  /// None.
  public static let defaultValue: Set<String> = []
}

extension Environment {
  /// Names of query parameters that hold secrets, see ``SensitiveParameters``. Default: none.
  public var sensitiveParameters: Set<String> {
    get { values[SensitiveParameters.self] }
    set { values[SensitiveParameters.self] = newValue }
  }
}

extension Endpoint {
  /// Names query parameters of this endpoint that hold secrets, see ``SensitiveParameters``.
  public func sensitiveParameters(_ names: String...) -> Request<Value> {
    modified { $0.options.values[SensitiveParameters.self].formUnion(names) }
  }
}

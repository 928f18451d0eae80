public import ApusCore

/// Where the environment keeps its authentication.
enum AuthenticationKey: ContextKey {
  static let defaultValue: Authentication? = nil
}

extension Environment {
  /// How calls in this environment show who is calling. Default: not at all.
  public var authentication: Authentication? {
    get { values[AuthenticationKey.self] }
    set {
      values[AuthenticationKey.self] = newValue
      // Nothing that core keeps or shares may pass from one account to the next.
      if let newValue {
        values[PrincipalKey.self] = { try await newValue.principal(of: $0) }
      } else {
        values[PrincipalKey.self] = nil
      }
    }
  }
}

/// Where an environment keeps how to tell whose credentials a call uses.
///
/// Whatever shares or stores answers asks, and never hands one principal's answer to another. The number means
/// nothing but that different ones are different accounts, or different credentials of one; `nil`: a call without
/// credentials. Set by whatever authenticates.
public enum PrincipalKey: ContextKey {
  /// Nobody is told from anybody: the environment has no credentials.
  public static let defaultValue: (@Sendable (CallContext) async throws -> UInt64?)? = nil
}

extension CallContext {
  /// Whose credentials this call uses now, see ``PrincipalKey``.
  ///
  /// - Throws: what reading the credentials throws.
  public func principal() async throws -> UInt64? {
    try await environment.values[PrincipalKey.self]?(self)
  }
}

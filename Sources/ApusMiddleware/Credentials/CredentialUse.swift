public import ApusCore

/// Whether calls of an endpoint carry credentials.
public enum CredentialUse: Sendable, Hashable {
  /// When there are any.
  case optional
  /// Always: where there are none for the environment's server, the call is not sent, and fails with the code `declined`.
  /// A redirect to another server is followed without.
  case required
  /// Never: sign-in, sign-up, public resources. What a server answers them says nothing about credentials, so a
  /// 401 is no ``SessionEnd``.
  case none
}

enum CredentialUseKey: ContextKey {
  static let defaultValue = CredentialUse.optional
}

extension Endpoint {
  /// Says whether calls of this endpoint carry credentials. Default: when there are any.
  public func credentials(_ use: CredentialUse) -> Request<Value> {
    setting(CredentialUseKey.self, use)
  }
}

public import ApusCore

/// How a server wants to be shown credentials, and where they come from.
///
/// Credentials are bound to origins: by default the one of the environment's base URL. A message to any
/// other origin never carries them.
public struct Authentication: Sendable {
  enum Scheme: Sendable {
    case bearer
    case basic
    case keyField(String)
    case keyParameter(String)
  }

  let scheme: Scheme
  let source: any CredentialSource
  let origins: Set<Origin>?

  private init(_ scheme: Scheme, _ source: any CredentialSource, _ origins: Set<Origin>?) {
    self.scheme = scheme
    self.source = source
    self.origins = origins
  }

  /// A token in `Authorization: Bearer` (RFC 6750 §2.1).
  ///
  /// - Parameters:
  ///   - source: keeps the token.
  ///   - origins: where it may be sent. Default: the origin of the environment's base URL alone.
  public static func bearer(_ source: any CredentialSource, origins: Set<Origin>? = nil) -> Authentication {
    Authentication(.bearer, source, origins)
  }

  /// A name and a password in `Authorization: Basic` (RFC 7617), in UTF-8.
  public static func basic(_ source: any CredentialSource, origins: Set<Origin>? = nil) -> Authentication {
    Authentication(.basic, source, origins)
  }

  /// A key in a field of the server's choice.
  public static func apiKey(
    _ source: any CredentialSource, field: String, origins: Set<Origin>? = nil
  ) -> Authentication {
    Authentication(.keyField(field), source, origins)
  }

  /// A key in the query: only for servers that take it nowhere else, since URLs end up in logs.
  public static func apiKey(
    _ source: any CredentialSource, queryParameter: String, origins: Set<Origin>? = nil
  ) -> Authentication {
    Authentication(.keyParameter(queryParameter), source, origins)
  }
}

/// Where the environment keeps its authentication.
enum AuthenticationKey: ContextKey {
  static let defaultValue: Authentication? = nil
}

/// Whether a call carries credentials.
public enum CredentialUse: Sendable, Hashable {
  /// When there are any.
  case automatic
  /// Never: sign-in, sign-up, public resources.
  case none
}

enum CredentialUseKey: ContextKey {
  static let defaultValue = CredentialUse.automatic
}

extension Environment {
  /// How calls in this environment show who is calling. Default: not at all.
  public var authentication: Authentication? {
    get { values[AuthenticationKey.self] }
    set { values[AuthenticationKey.self] = newValue }
  }
}

extension Endpoint {
  /// Says whether calls of this endpoint carry credentials.
  public func credentials(_ use: CredentialUse) -> Request<Value> {
    setting(CredentialUseKey.self, use)
  }
}

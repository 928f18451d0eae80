public import ApusCore

/// How a server wants to be shown credentials, and where they come from.
///
/// Credentials are bound to origins: by default the one of the environment's base URL. A message to any other
/// origin never carries them. A call that sets the field (or parameter) itself keeps its own.
public struct Authentication: Sendable {
  enum Scheme: Sendable {
    case bearer
    case basic
    case keyField(String)
    case keyParameter(String)
  }

  /// Tells this authentication from others, so that what is known of one's credentials is not held for another's.
  final class Identity: Sendable {}

  let scheme: Scheme
  let source: any CredentialSource
  let origins: Set<Origin>?
  let identity = Identity()

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
  ///
  /// - Parameters:
  ///   - source: keeps the name, which has no colon, and the password.
  ///   - origins: where they may be sent. Default: the origin of the environment's base URL alone.
  public static func basic(_ source: any CredentialSource, origins: Set<Origin>? = nil) -> Authentication {
    Authentication(.basic, source, origins)
  }

  /// A key in a field of the server's choice.
  ///
  /// - Parameters:
  ///   - source: keeps the key, as a token.
  ///   - field: the field's name, for example `X-Api-Key`.
  ///   - origins: where it may be sent. Default: the origin of the environment's base URL alone.
  public static func apiKey(
    _ source: any CredentialSource, field: String, origins: Set<Origin>? = nil
  ) -> Authentication {
    Authentication(.keyField(field), source, origins)
  }

  /// A key in the query: only for servers that take it nowhere else, since URLs end up in logs.
  ///
  /// - Parameters:
  ///   - source: keeps the key, as a token.
  ///   - queryParameter: the parameter's name.
  ///   - origins: where it may be sent. Default: the origin of the environment's base URL alone.
  public static func apiKey(
    _ source: any CredentialSource, queryParameter: String, origins: Set<Origin>? = nil
  ) -> Authentication {
    Authentication(.keyParameter(queryParameter), source, origins)
  }
}

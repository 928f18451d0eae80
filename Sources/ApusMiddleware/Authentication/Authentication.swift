public import ApusCore
import Synchronization

/// The authentication of calls: a scheme, a credentials store, and the origins to which the credentials may be sent.
///
/// The default is the origin of the environment's base URL; a message to any other origin never carries the
/// credentials. A call that sets the field (or parameter) itself keeps its own value.
public struct Authentication: Sendable {
  /// The parts that copies of an authentication share. The object is the authentication's identity.
  final class Parts: Sendable {
    let scheme: any AuthenticationScheme
    let places: [AuthenticationPlace]
    let source: any CredentialsStore
    let origins: Set<Origin>?
    let realm: String?
    let refresher: Refresher?
    /// One more than the latest generation that had credentials; 0: there was none.
    private let lastSession = Atomic<UInt64>(0)
    /// The open streamed responses.
    let streams: OpenStreams
    /// The protection spaces that servers have announced.
    let spaces = ProtectionSpaces()

    init(
      _ scheme: any AuthenticationScheme, _ source: any CredentialsStore, _ scope: Scope, _ refresher: Refresher? = nil
    ) {
      self.scheme = scheme
      places = scheme.locations.map { AuthenticationPlace($0) }
      self.source = source
      streams = OpenStreams(of: source)
      (origins, realm) = (scope.origins, scope.realm)
      self.refresher = refresher
    }

    /// Notes what a read of the store returned.
    func saw(_ stored: StoredCredential) async {
      if stored.credential != nil { note(stored.generation &+ 1) }
      await streams.saw(stored.principal)
    }

    private func note(_ mark: UInt64) {
      // A late call must not decrease the mark.
      if mark > lastSession.load(ordering: .relaxed) { lastSession.store(mark, ordering: .relaxed) }
    }

    /// The latest generation that had credentials; `nil`: there was none.
    var lastGeneration: UInt64? {
      let mark = lastSession.load(ordering: .relaxed)
      return mark > 0 ? mark - 1 : nil
    }

    /// The reason for a rejection of credentials that were read from the store.
    func reasonForNone(_ stored: StoredCredential?) -> SessionEnd.Reason {
      if stored?.credential != nil { return .rejected }
      return lastGeneration == nil ? .neverSignedIn : .signedOut
    }
  }

  /// The origins and the protection space to which credentials may be sent.
  struct Scope {
    let origins: Set<Origin>?
    let realm: String?
  }

  let parts: Parts

  /// Authenticates with a scheme, for example a custom ``AuthenticationScheme``.
  ///
  /// - Parameters:
  ///   - scheme: adds the credentials to messages.
  ///   - source: the credentials store.
  ///   - origins: the origins to which the credentials may be sent. Default: the origin of the environment's base URL.
  ///   - realm: the protection space of the credentials (RFC 9110 §11.5): they are sent only where a challenge has
  ///     named this realm. Default: any.
  public static func scheme(
    _ scheme: any AuthenticationScheme, _ source: any CredentialsStore, origins: Set<Origin>? = nil,
    realm: String? = nil
  ) -> Authentication {
    Authentication(parts: Parts(scheme, source, Scope(origins: origins, realm: realm)))
  }

  /// Authenticates with a scheme whose tokens are refreshed, for example one that signs messages with a key and sends a
  /// token. The refresh works as for ``bearer(_:origins:realm:limit:refresh:)``.
  ///
  /// - Parameters:
  ///   - scheme: adds the credentials to messages.
  ///   - source: the credentials store.
  ///   - origins: the origins to which the credentials may be sent. Default: the origin of the environment's base URL.
  ///   - limit: the maximum time that calls wait for a refresh. Default: 30 seconds.
  ///   - refresh: gets new tokens. Its error fails all waiting calls.
  public static func scheme(
    _ scheme: any AuthenticationScheme, _ source: any RefreshableCredentialsStore, origins: Set<Origin>? = nil,
    limit: Duration = .seconds(30), refresh: @escaping @Sendable (RefreshContext) async throws -> Tokens
  ) -> Authentication {
    let refresher = Refresher(source, limit: limit, refresh)
    return Authentication(parts: Parts(scheme, source, Scope(origins: origins, realm: nil), refresher))
  }

  /// Authenticates with a token that does not change, in `Authorization: Bearer` (RFC 6750 §2.1).
  ///
  /// The token is masked in all output. ``Client/signOut()`` does not remove it: a token of a user who signs in and out
  /// belongs in a store, see ``bearer(_:origins:realm:limit:refresh:)``.
  ///
  /// - Parameters:
  ///   - token: the token.
  ///   - origins: the origins to which the token may be sent. Default: the origin of the environment's base URL.
  public static func bearer(_ token: String, origins: Set<Origin>? = nil) -> Authentication {
    bearer(FixedCredential(.token(Secret(token))), origins: origins)
  }

  /// Authenticates with a token in `Authorization: Bearer` (RFC 6750 §2.1) from a store.
  ///
  /// - Parameters:
  ///   - source: the credentials store.
  ///   - origins: the origins to which the token may be sent. Default: the origin of the environment's base URL.
  ///   - realm: the protection space of the token. Default: any.
  public static func bearer(
    _ source: any CredentialsStore, origins: Set<Origin>? = nil, realm: String? = nil
  ) -> Authentication {
    scheme(BearerScheme(), source, origins: origins, realm: realm)
  }

  /// Authenticates with a token in `Authorization: Bearer` (RFC 6750 §2.1) that is refreshed, shortly before it expires
  /// if its lifetime is known, and when a server rejects it with 401.
  ///
  /// `refresh` runs once for any number of calls that are rejected with the same token. Each of these calls is then
  /// resent with the new token; a call that is rejected again gets its 401. Calls that begin during a refresh wait for
  /// it. Cancelling a call does not cancel the refresh. The new tokens are stored before any call continues.
  ///
  /// ```swift
  /// let tokens = MemoryCredentialsStore()
  /// let authentication = Authentication.bearer(tokens) { refresh in
  ///   try await refresh.tokens(from: "/oauth/token", adding: ["client_id": "app"])
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - source: the credentials store.
  ///   - origins: the origins to which the tokens may be sent. Default: the origin of the environment's base URL; the
  ///     tokens are then refreshed only in environments with the origin where they were first used.
  ///   - realm: the protection space of the tokens. Default: any.
  ///   - limit: the maximum time that calls wait for a refresh. A refresh that takes longer may run for the same time
  ///     again, and its tokens are stored. Default: 30 seconds.
  ///   - refresh: gets new tokens. Its error fails all waiting calls. If the server rejects the refresh for good (401,
  ///     403, 400 with `invalid_grant`), or `refresh` throws ``RefreshRejection``, the store is cleared and nothing is
  ///     refreshed until the next sign-in. After any other error there is no refresh for 1 second; the interval doubles
  ///     with each further error, up to 1 minute.
  public static func bearer(
    _ source: any RefreshableCredentialsStore, origins: Set<Origin>? = nil, realm: String? = nil,
    limit: Duration = .seconds(30), refresh: @escaping @Sendable (RefreshContext) async throws -> Tokens
  ) -> Authentication {
    let refresher = Refresher(source, limit: limit, refresh)
    return Authentication(parts: Parts(BearerScheme(), source, Scope(origins: origins, realm: realm), refresher))
  }

  /// Authenticates with a user name and a password that do not change, in `Authorization: Basic` (RFC 7617), in UTF-8.
  ///
  /// The password is masked in all output. ``Client/signOut()`` removes neither.
  ///
  /// - Parameters:
  ///   - user: the user name, which must not contain a colon.
  ///   - password: the password.
  ///   - origins: the origins to which both may be sent. Default: the origin of the environment's base URL.
  public static func basic(user: String, password: String, origins: Set<Origin>? = nil) -> Authentication {
    basic(FixedCredential(.password(user: user, Secret(password))), origins: origins)
  }

  /// Authenticates with a user name and a password in `Authorization: Basic` (RFC 7617), in UTF-8, from a store.
  ///
  /// - Parameters:
  ///   - source: the store of the user name, which must not contain a colon, and the password.
  ///   - origins: the origins to which both may be sent. Default: the origin of the environment's base URL.
  ///   - realm: the protection space of the credentials. Default: any; they are then sent without a challenge.
  public static func basic(
    _ source: any CredentialsStore, origins: Set<Origin>? = nil, realm: String? = nil
  ) -> Authentication {
    scheme(BasicScheme(), source, origins: origins, realm: realm)
  }

  /// Authenticates with an API key that does not change, in a field.
  ///
  /// The key is masked in all output. ``Client/signOut()`` does not remove it.
  ///
  /// - Parameters:
  ///   - key: the key.
  ///   - field: the field's name, for example `X-Api-Key`.
  ///   - origins: the origins to which the key may be sent. Default: the origin of the environment's base URL.
  public static func apiKey(_ key: String, field: String, origins: Set<Origin>? = nil) -> Authentication {
    apiKey(FixedCredential(.token(Secret(key))), field: field, origins: origins)
  }

  /// Authenticates with an API key in a field, from a store.
  ///
  /// - Parameters:
  ///   - source: the store of the key, as a token.
  ///   - field: the field's name, for example `X-Api-Key`.
  ///   - origins: the origins to which the key may be sent. Default: the origin of the environment's base URL.
  public static func apiKey(
    _ source: any CredentialsStore, field: String, origins: Set<Origin>? = nil
  ) -> Authentication {
    scheme(APIKeyScheme(field: field), source, origins: origins)
  }

  /// Authenticates with an API key that does not change, in the query. URLs end up in logs: use it only if the server
  /// accepts nothing else.
  ///
  /// The key is masked in all output. ``Client/signOut()`` does not remove it.
  ///
  /// - Parameters:
  ///   - key: the key.
  ///   - queryParameter: the parameter's name.
  ///   - origins: the origins to which the key may be sent. Default: the origin of the environment's base URL.
  public static func apiKey(_ key: String, queryParameter: String, origins: Set<Origin>? = nil) -> Authentication {
    apiKey(FixedCredential(.token(Secret(key))), queryParameter: queryParameter, origins: origins)
  }

  /// Authenticates with an API key in the query, from a store. URLs end up in logs: use it only if the server accepts
  /// nothing else.
  ///
  /// - Parameters:
  ///   - source: the store of the key, as a token.
  ///   - queryParameter: the parameter's name.
  ///   - origins: the origins to which the key may be sent. Default: the origin of the environment's base URL.
  public static func apiKey(
    _ source: any CredentialsStore, queryParameter: String, origins: Set<Origin>? = nil
  ) -> Authentication {
    scheme(APIKeyScheme(queryParameter: queryParameter), source, origins: origins)
  }
}

/// The authentications of an environment.
enum AuthenticationsKey: ContextKey {
  static let defaultValue: [Authentication] = []
}

extension Environment {
  /// The authentication of calls in this environment. Default: `nil`, none.
  ///
  /// Setting it replaces all ``authentications``.
  public var authentication: Authentication? {
    get { authentications.first }
    set { authentications = newValue.map { [$0] } ?? [] }
  }

  /// The authentications of calls in this environment, if there are several: an API key together with a token, or
  /// different credentials for different origins and realms. Default: none.
  ///
  /// A message carries the credentials for its origin. If several authentications use the same field or parameter, such
  /// as `Authorization`, the first authentication's credentials are sent. If the server's challenge asks for the scheme
  /// or realm of another authentication, the message is resent with that authentication's credentials, which are used
  /// for the same protection space from then on.
  ///
  /// ```swift
  /// var environment = Environment(baseURL: "https://api.example.com/v1")
  /// environment.authentications = [
  ///   .bearer(tokens), .apiKey(key, field: "X-Api-Key"), .basic(operators, realm: "operations"),
  /// ]
  /// ```
  public var authentications: [Authentication] {
    get { values[AuthenticationsKey.self] }
    set {
      values[AuthenticationsKey.self] = newValue
      // Nothing that core caches or shares may pass from one account to another.
      if newValue.isEmpty {
        values[PrincipalKey.self] = nil
      } else {
        values[PrincipalKey.self] = { try await newValue.bind(&$1, $0) }
      }
    }
  }
}

extension [Authentication] {
  /// Binds a call to the accounts whose credentials it may carry.
  ///
  /// - Returns: a number that identifies the accounts together; `nil`: the call carries no credentials.
  fileprivate func bind(_ context: inout CallContext, _ request: RequestMessage) async throws -> UInt64? {
    guard context.values[CredentialsPolicyKey.self] != .none else { return nil }
    let accounts = try await BoundAccounts(self, for: request)
    context.values[BoundAccountsKey.self] = accounts
    return accounts.principal
  }
}

/// The authentications that the rest of a call skips: the call had set its own credentials in their place, and a
/// redirect removed them.
enum ForgoneAuthentications: ContextKey {
  static let defaultValue: Set<ObjectIdentifier> = []
}

extension SourceIdentity {
  /// The identity of an authentication's store. It is valid as long as the authentication is kept.
  init(_ authentication: Authentication) {
    self.init(authentication.parts.source, elseOf: authentication.parts)
  }
}

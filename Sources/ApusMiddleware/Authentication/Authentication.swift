public import ApusCore
import Synchronization

/// The authentication of calls: a scheme, a credentials store, and the origins to which the credentials may be sent.
///
/// By default, only messages to the origin of the environment's base URL carry the credentials. A message to an origin
/// that is not allowed never carries them. A field (or parameter) that a call sets itself takes precedence.
public struct Authentication: Sendable {
  /// The parts that copies of an authentication share.
  final class Parts: Sendable {
    let scheme: any AuthenticationScheme
    let locations: [CredentialLocation.Prepared]
    let store: any CredentialsStore
    let origins: Set<Origin>?
    let realm: String?
    let refresher: Refresher?
    /// The latest generation with credentials, plus 1; 0 if there was none.
    private let lastSession = Atomic<UInt64>(0)
    /// The open streamed responses.
    let streams: OpenStreams
    /// The protection spaces that servers have announced.
    let spaces = ProtectionSpaces()
    /// A number that no other authentication of the process has had. Identities of objects are reused.
    let serial = Parts.serials.add(1, ordering: .relaxed).newValue

    private static let serials = Atomic<UInt64>(0)

    init(
      _ scheme: any AuthenticationScheme, _ store: any CredentialsStore,
      _ scope: (origins: Set<Origin>?, realm: String?), _ refresher: Refresher? = nil
    ) {
      self.scheme = scheme
      locations = scheme.locations.map { CredentialLocation.Prepared($0) }
      self.store = store
      streams = OpenStreams(of: store)
      (origins, realm) = scope
      self.refresher = refresher
    }

    /// Records the credential that was read from the store.
    func recordRead(_ stored: StoredCredential) async {
      let session = stored.generation &+ 1
      // A call that read an older generation must not lower `lastSession`.
      if stored.credential != nil, session > lastSession.load(ordering: .relaxed) {
        lastSession.store(session, ordering: .relaxed)
      }
      await streams.storeReturned(stored.principal)
    }

    /// The latest generation with credentials; `nil` if there was none.
    var lastGeneration: UInt64? {
      let session = lastSession.load(ordering: .relaxed)
      return session > 0 ? session - 1 : nil
    }

    /// Returns the reason why a server rejected a message with the credentials that were read from the store.
    func rejectionReason(_ stored: StoredCredential?) -> SessionEnd.Reason {
      if stored?.credential != nil { return .rejected }
      return lastGeneration == nil ? .neverSignedIn : .signedOut
    }
  }

  let parts: Parts

  /// The identity that copies of an authentication share.
  var id: ObjectIdentifier { ObjectIdentifier(parts) }

  /// Authenticates with a scheme, for example a custom ``AuthenticationScheme``.
  ///
  /// - Parameters:
  ///   - scheme: adds the credentials to messages.
  ///   - store: the credentials store.
  ///   - origins: the origins to which the credentials may be sent. Default: the origin of the environment's base URL.
  ///   - realm: the protection space of the credentials (RFC 9110 §11.5): they are sent only where a challenge has
  ///     named this realm. Default: any realm.
  public static func scheme(
    _ scheme: any AuthenticationScheme, _ store: any CredentialsStore, origins: Set<Origin>? = nil,
    realm: String? = nil
  ) -> Authentication {
    Authentication(parts: Parts(scheme, store, (origins, realm)))
  }

  /// Authenticates with a scheme whose tokens are refreshed, for example a scheme that signs messages with a key and
  /// sends a token. The refresh works as for ``bearer(_:origins:realm:limit:refresh:)``.
  ///
  /// - Parameters:
  ///   - scheme: adds the credentials to messages.
  ///   - store: the credentials store.
  ///   - origins: the origins to which the credentials may be sent. Default: the origin of the environment's base URL.
  ///   - limit: the maximum time that calls wait for a refresh. Default: 30 seconds.
  ///   - refresh: gets new tokens. Its error fails all waiting calls.
  public static func scheme(
    _ scheme: any AuthenticationScheme, _ store: any RefreshableCredentialsStore, origins: Set<Origin>? = nil,
    limit: Duration = .seconds(30), refresh: @escaping @Sendable (RefreshContext) async throws -> Tokens
  ) -> Authentication {
    let refresher = Refresher(store, timeout: limit, refresh)
    return Authentication(parts: Parts(scheme, store, (origins, nil), refresher))
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
  ///   - store: the credentials store.
  ///   - origins: the origins to which the token may be sent. Default: the origin of the environment's base URL.
  ///   - realm: the protection space of the token. Default: any realm.
  public static func bearer(
    _ store: any CredentialsStore, origins: Set<Origin>? = nil, realm: String? = nil
  ) -> Authentication {
    scheme(BearerScheme(), store, origins: origins, realm: realm)
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
  ///   - store: the credentials store.
  ///   - origins: the origins to which the tokens may be sent. Default: the origin of the environment's base URL; the
  ///     tokens are then refreshed only in environments with the origin where they were first used.
  ///   - realm: the protection space of the tokens. Default: any realm.
  ///   - limit: the maximum time that calls wait for a refresh. A refresh that takes longer may run for the same time
  ///     again, and its tokens are stored. Default: 30 seconds.
  ///   - refresh: gets new tokens. Its error fails all waiting calls. If the server rejects the refresh permanently
  ///     (401, 403, 400 with `invalid_grant`), or `refresh` throws ``RefreshRejection``, the store is cleared and
  ///     nothing is refreshed until the next sign-in. After any other error there is no refresh for 1 second; the
  ///     interval doubles with each further error, up to 1 minute.
  public static func bearer(
    _ store: any RefreshableCredentialsStore, origins: Set<Origin>? = nil, realm: String? = nil,
    limit: Duration = .seconds(30), refresh: @escaping @Sendable (RefreshContext) async throws -> Tokens
  ) -> Authentication {
    let refresher = Refresher(store, timeout: limit, refresh)
    return Authentication(parts: Parts(BearerScheme(), store, (origins, realm), refresher))
  }

  /// Authenticates with a user name and a password that do not change, in `Authorization: Basic` (RFC 7617), in UTF-8.
  ///
  /// The password is masked in all output. ``Client/signOut()`` does not remove the user name and the password.
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
  ///   - store: the store of the user name, which must not contain a colon, and the password.
  ///   - origins: the origins to which both may be sent. Default: the origin of the environment's base URL.
  ///   - realm: the protection space of the credentials. Default: any realm; the credentials are then sent without a
  ///     challenge.
  public static func basic(
    _ store: any CredentialsStore, origins: Set<Origin>? = nil, realm: String? = nil
  ) -> Authentication {
    scheme(BasicScheme(), store, origins: origins, realm: realm)
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
  ///   - store: the store of the key, as a token.
  ///   - field: the field's name, for example `X-Api-Key`.
  ///   - origins: the origins to which the key may be sent. Default: the origin of the environment's base URL.
  public static func apiKey(
    _ store: any CredentialsStore, field: String, origins: Set<Origin>? = nil
  ) -> Authentication {
    scheme(APIKeyScheme(location: .field(field)), store, origins: origins)
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
  ///   - store: the store of the key, as a token.
  ///   - queryParameter: the parameter's name.
  ///   - origins: the origins to which the key may be sent. Default: the origin of the environment's base URL.
  public static func apiKey(
    _ store: any CredentialsStore, queryParameter: String, origins: Set<Origin>? = nil
  ) -> Authentication {
    scheme(APIKeyScheme(location: .parameter(queryParameter)), store, origins: origins)
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
  /// as `Authorization`, the first authentication's credentials are sent. If the server's challenge requires the scheme
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
      // Core must not share or cache a response across accounts.
      if newValue.isEmpty {
        values[CallBinderKey.self] = nil
      } else {
        values[CallBinderKey.self] = { request, context in
          guard context.values[CredentialsPolicyKey.self] != .none else { return nil }
          let principals = try await BoundPrincipals(newValue, for: request)
          context.values[BoundPrincipalsKey.self] = principals
          return principals.combined
        }
      }
    }
  }
}

/// The authentications that the rest of a call skips, because the call had set its own credentials in their place and a
/// redirect removed those credentials.
enum SkippedAuthentications: ContextKey {
  static let defaultValue: Set<ObjectIdentifier> = []
}

// MARK: Messages

extension Authentication {
  /// Whether a message already has a value in a field or parameter that these credentials would use.
  func isOverridden(by request: RequestMessage) -> Bool {
    parts.locations.contains { $0.hasValue(in: request) }
  }

  /// Whether the current task refreshes these credentials. A call made by that task must not wait for the refresh.
  var isRefreshing: Bool { parts.refresher.map { RefreshWork.isCurrent(for: $0) } ?? false }

  /// The names of the query parameters that carry credentials.
  var parameterNames: [String] {
    parts.scheme.locations.compactMap { location in
      if case .parameter(let name) = location { return name }
      return nil
    }
  }
}

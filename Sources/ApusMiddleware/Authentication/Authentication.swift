public import ApusCore
import Synchronization

/// How calls authenticate: a scheme, a credentials store, and the origins to which the credentials may go.
///
/// By default that is the origin of the environment's base URL; a message to any other origin never carries the
/// credentials. A call that sets the field (or parameter) itself keeps its own value.
public struct Authentication: Sendable {
  /// The parts that copies of an authentication share, and its identity.
  final class Parts: Sendable {
    let scheme: any AuthenticationScheme
    let places: [AuthenticationPlace]
    let source: any CredentialSource
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
      _ scheme: any AuthenticationScheme, _ source: any CredentialSource, _ scope: Scope, _ refresher: Refresher? = nil
    ) {
      self.scheme = scheme
      places = scheme.places.map { AuthenticationPlace($0) }
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
      // A late call must not move it back.
      if mark > lastSession.load(ordering: .relaxed) { lastSession.store(mark, ordering: .relaxed) }
    }

    /// The latest generation that had credentials; `nil`: there was none.
    var lastGeneration: UInt64? {
      let mark = lastSession.load(ordering: .relaxed)
      return mark > 0 ? mark - 1 : nil
    }

    /// The reason for a rejection of what the store held.
    func reasonForNone(_ stored: StoredCredential?) -> SessionEnd.Reason {
      if stored?.credential != nil { return .refused }
      return lastGeneration == nil ? .neverSignedIn : .signedOut
    }
  }

  /// Where credentials may be sent.
  struct Scope {
    let origins: Set<Origin>?
    let realm: String?
  }

  let parts: Parts

  /// Authenticates with a scheme, for example one of your own.
  ///
  /// - Parameters:
  ///   - scheme: adds the credentials to messages.
  ///   - source: the credentials store.
  ///   - origins: the origins to which the credentials may be sent. Default: the origin of the environment's base URL.
  ///   - realm: the protection space of the credentials (RFC 9110 §11.5): they are sent only where a challenge has
  ///     named it. Default: any.
  public static func scheme(
    _ scheme: any AuthenticationScheme, _ source: any CredentialSource, origins: Set<Origin>? = nil,
    realm: String? = nil
  ) -> Authentication {
    Authentication(parts: Parts(scheme, source, Scope(origins: origins, realm: realm)))
  }

  /// Authenticates with a token in `Authorization: Bearer` (RFC 6750 §2.1).
  ///
  /// - Parameters:
  ///   - source: the credentials store.
  ///   - origins: the origins to which the token may be sent. Default: the origin of the environment's base URL.
  ///   - realm: the protection space of the token. Default: any.
  public static func bearer(
    _ source: any CredentialSource, origins: Set<Origin>? = nil, realm: String? = nil
  ) -> Authentication {
    scheme(BearerScheme(), source, origins: origins, realm: realm)
  }

  /// Authenticates with a token in `Authorization: Bearer` (RFC 6750 §2.1) that is refreshed, shortly before it expires
  /// if its lifetime is known, and when a server rejects it with 401.
  ///
  /// However many calls are rejected with one token, `refresh` runs once, and each of them is sent again with the new
  /// token; a call that is rejected again gets its 401. Calls that begin during a refresh wait for it. Cancelling a
  /// call does not cancel the refresh. The new tokens are stored before any call continues.
  ///
  /// ```swift
  /// let tokens = MemoryCredentials()
  /// let authentication = Authentication.bearer(tokens) { refresh in
  ///   try await refresh.tokens(from: "/oauth/token", adding: ["client_id": "app"])
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - source: the credentials store.
  ///   - origins: the origins to which the tokens may be sent. Default: the origin of the environment's base URL; they
  ///     are then refreshed only in environments with the origin where they were used first.
  ///   - realm: the protection space of the tokens. Default: any.
  ///   - limit: how long calls wait for a refresh. A refresh that takes longer goes on for the same time once more, and
  ///     its tokens are stored. Default: 30 seconds.
  ///   - refresh: gets new tokens. Its error fails all waiting calls. If the server rejects the refresh for good (401,
  ///     403, 400 with `invalid_grant`), or it throws ``RefreshRefusal``, the store is cleared and nothing is refreshed
  ///     until the next sign-in. After any other error there is no refresh for a second, after the next for two, up to
  ///     a minute.
  public static func bearer(
    _ source: any RefreshableCredentialSource, origins: Set<Origin>? = nil, realm: String? = nil,
    limit: Duration = .seconds(30), refresh: @escaping @Sendable (Refresh) async throws -> Tokens
  ) -> Authentication {
    let refresher = Refresher(source, limit: limit, refresh)
    return Authentication(parts: Parts(BearerScheme(), source, Scope(origins: origins, realm: realm), refresher))
  }

  /// Authenticates with a user name and a password in `Authorization: Basic` (RFC 7617), in UTF-8.
  ///
  /// - Parameters:
  ///   - source: the store of the user name, which must not contain a colon, and the password.
  ///   - origins: the origins to which they may be sent. Default: the origin of the environment's base URL.
  ///   - realm: the protection space they are for. Default: any; then they are sent without a challenge.
  public static func basic(
    _ source: any CredentialSource, origins: Set<Origin>? = nil, realm: String? = nil
  ) -> Authentication {
    scheme(BasicScheme(), source, origins: origins, realm: realm)
  }

  /// Authenticates with an API key in a field.
  ///
  /// - Parameters:
  ///   - source: the store of the key, as a token.
  ///   - field: the field's name, for example `X-Api-Key`.
  ///   - origins: the origins to which it may be sent. Default: the origin of the environment's base URL.
  public static func apiKey(
    _ source: any CredentialSource, field: String, origins: Set<Origin>? = nil
  ) -> Authentication {
    scheme(KeyScheme(field: field), source, origins: origins)
  }

  /// Authenticates with an API key in the query. URLs end up in logs: use it only if the server accepts nothing else.
  ///
  /// - Parameters:
  ///   - source: the store of the key, as a token.
  ///   - queryParameter: the parameter's name.
  ///   - origins: the origins to which it may be sent. Default: the origin of the environment's base URL.
  public static func apiKey(
    _ source: any CredentialSource, queryParameter: String, origins: Set<Origin>? = nil
  ) -> Authentication {
    scheme(KeyScheme(queryParameter: queryParameter), source, origins: origins)
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

  /// The authentications of calls in this environment, if there are several: API keys and tokens at once, or other
  /// credentials for other origins and realms. Default: none.
  ///
  /// A message carries the credentials that are for its origin. If several use the same place, such as `Authorization`,
  /// the first one's are sent, and another one's if the server's challenge asks for its scheme or realm; from then on
  /// that one is used for the same protection space.
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
  /// - Returns: a number for them together; `nil`: the call carries none.
  fileprivate func bind(_ context: inout CallContext, _ request: RequestMessage) async throws -> UInt64? {
    guard context.values[CredentialUseKey.self] != .none else { return nil }
    let accounts = try await BoundAccounts(self, for: request)
    context.values[BoundAccountsKey.self] = accounts
    return accounts.principal
  }
}

/// The authentications that a call goes on without: it had credentials of its own in their place, which a redirect
/// removed.
enum ForgoneAuthentications: ContextKey {
  static let defaultValue: Set<ObjectIdentifier> = []
}

extension SourceIdentity {
  /// The identity of an authentication's store. It is valid as long as the authentication is kept.
  init(_ authentication: Authentication) {
    self.init(authentication.parts.source, elseOf: authentication.parts)
  }
}

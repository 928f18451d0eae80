public import ApusCore
import Synchronization

/// How a server wants to be shown credentials, and where they come from.
///
/// Credentials are bound to origins: by default the one of the environment's base URL. A message to any other
/// origin never carries them. A call that sets the field (or parameter) itself keeps its own.
public struct Authentication: Sendable {
  /// What copies of an authentication share, and what tells it from others.
  final class Parts: Sendable {
    let scheme: any AuthenticationScheme
    let places: [AuthenticationPlace]
    let source: any CredentialSource
    let origins: Set<Origin>?
    let realm: String?
    let refresher: Refresher?
    /// One more than the last generation in which credentials were seen; 0: none were.
    private let lastSession = Atomic<UInt64>(0)
    /// What is read as it comes.
    let streams: OpenStreams
    /// What servers have asked for.
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

    /// The source was read.
    func saw(_ stored: StoredCredential) async {
      if stored.credential != nil { note(stored.generation &+ 1) }
      await streams.saw(stored.principal)
    }

    private func note(_ mark: UInt64) {
      // What a late call has seen sets nothing back.
      if mark > lastSession.load(ordering: .relaxed) { lastSession.store(mark, ordering: .relaxed) }
    }

    /// The last generation in which credentials were seen; `nil`: none were.
    var lastGeneration: UInt64? {
      let mark = lastSession.load(ordering: .relaxed)
      return mark > 0 ? mark - 1 : nil
    }

    /// The reason why a server takes nothing of what a source held.
    func reasonForNone(_ stored: StoredCredential?) -> SessionEnd.Reason {
      if stored?.credential != nil { return .refused }
      return lastGeneration == nil ? .neverSignedIn : .signedOut
    }
  }

  /// Where credentials may go.
  struct Scope {
    let origins: Set<Origin>?
    let realm: String?
  }

  let parts: Parts

  /// Credentials that are shown by a scheme, your own for example.
  ///
  /// - Parameters:
  ///   - scheme: how.
  ///   - source: keeps the credentials.
  ///   - origins: where they may be sent. Default: the origin of the environment's base URL alone.
  ///   - realm: the part of the server they are for (RFC 9110 §11.5): they are shown only where a challenge has named
  ///     it. Default: any.
  public static func scheme(
    _ scheme: any AuthenticationScheme, _ source: any CredentialSource, origins: Set<Origin>? = nil,
    realm: String? = nil
  ) -> Authentication {
    Authentication(parts: Parts(scheme, source, Scope(origins: origins, realm: realm)))
  }

  /// A token in `Authorization: Bearer` (RFC 6750 §2.1).
  ///
  /// - Parameters:
  ///   - source: keeps the token.
  ///   - origins: where it may be sent. Default: the origin of the environment's base URL alone.
  ///   - realm: the part of the server it is for. Default: any.
  public static func bearer(
    _ source: any CredentialSource, origins: Set<Origin>? = nil, realm: String? = nil
  ) -> Authentication {
    scheme(BearerScheme(), source, origins: origins, realm: realm)
  }

  /// A token in `Authorization: Bearer` (RFC 6750 §2.1) that is refreshed: a little before its end where that is known,
  /// and where a server refuses it with 401.
  ///
  /// However many calls are refused with the same token, `refresh` is asked once, and each of them is sent once more
  /// with what it gave; one that is refused again gets its 401. Calls that begin meanwhile wait. No call's end ends the
  /// refresh. What it gave is stored before anybody goes on.
  ///
  /// ```swift
  /// let tokens = MemoryCredentials()
  /// let authentication = Authentication.bearer(tokens) { refresh in
  ///   try await refresh.tokens(from: "/oauth/token", adding: ["client_id": "app"])
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - source: keeps the tokens.
  ///   - origins: where they may be sent. Default: the origin of the environment's base URL alone; then they are
  ///     refreshed only in environments with the origin where they were used first.
  ///   - realm: the part of the server they are for. Default: any.
  ///   - limit: how long calls wait for a refresh. One that takes longer goes on, and what it gives is stored, until
  ///     the same time has passed once more. Default: 30 seconds.
  ///   - refresh: gets new tokens. What it throws fails all who wait. Where it is a refusal for good by the server (401,
  ///     403, 400 with `invalid_grant`) or ``RefreshRefusal``, the source is cleared, and nobody asks again until
  ///     somebody has signed in. After any other failure nobody asks for a second, after the next for two, up to a
  ///     minute.
  public static func bearer(
    _ source: any RefreshableCredentialSource, origins: Set<Origin>? = nil, realm: String? = nil,
    limit: Duration = .seconds(30), refresh: @escaping @Sendable (Refresh) async throws -> Tokens
  ) -> Authentication {
    let refresher = Refresher(source, limit: limit, refresh)
    return Authentication(parts: Parts(BearerScheme(), source, Scope(origins: origins, realm: realm), refresher))
  }

  /// A name and a password in `Authorization: Basic` (RFC 7617), in UTF-8.
  ///
  /// - Parameters:
  ///   - source: keeps the name, which has no colon, and the password.
  ///   - origins: where they may be sent. Default: the origin of the environment's base URL alone.
  ///   - realm: the part of the server they are for. Default: any; then they are sent unasked.
  public static func basic(
    _ source: any CredentialSource, origins: Set<Origin>? = nil, realm: String? = nil
  ) -> Authentication {
    scheme(BasicScheme(), source, origins: origins, realm: realm)
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
    scheme(KeyScheme(field: field), source, origins: origins)
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
    scheme(KeyScheme(queryParameter: queryParameter), source, origins: origins)
  }
}

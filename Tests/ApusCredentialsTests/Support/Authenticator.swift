import Apus
import ApusCredentials

/// The authentication schemes, each with different secrets.
enum Authenticator: String, CaseIterable, Sendable {
  case bearer, refreshedBearer, basic, digest, keyField, keyParameter, custom

  /// The path of the refresh below the base URL.
  static let tokenPath = "/token"

  private static var account: MemoryCredentialsStore {
    MemoryCredentialsStore(.password(user: Planted.user.secret, Secret(Planted.password.secret)))
  }

  /// Returns a new authentication with separate credentials.
  func authentication() -> Authentication {
    switch self {
    case .bearer: return .bearer(MemoryCredentialsStore(token: Planted.access.secret))
    case .refreshedBearer:
      let tokens = Tokens(access: Secret(Planted.access.secret), refresh: Secret(Planted.refresh.secret))
      return .bearer(MemoryCredentialsStore(.tokens(tokens)), limit: .seconds(5)) { refresh in
        try await refresh.send(.newTokens(for: refresh.token))
      }
    case .basic: return .basic(Self.account)
    case .digest: return .digest(Self.account)
    case .keyField: return .apiKey(MemoryCredentialsStore(token: Planted.key.secret), field: "X-Who")
    case .keyParameter: return .apiKey(MemoryCredentialsStore(token: Planted.key.secret), queryParameter: "who")
    case .custom: return .scheme(ThreefoldScheme(), Self.account)
    }
  }

  /// The secrets that a message contains in plain text, without computed values.
  var shown: Set<Planted> {
    switch self {
    case .bearer, .refreshedBearer: [.access]
    case .basic, .custom: [.user, .password]
    case .digest: [.user]
    case .keyField, .keyParameter: [.key]
    }
  }

  /// The challenge of a server that requests these credentials.
  var challenge: String {
    switch self {
    case .bearer, .refreshedBearer: #"Bearer realm="apus", error="invalid_token""#
    case .basic: #"Basic realm="apus", charset="UTF-8""#
    case .digest: #"Digest realm="apus", nonce="n0nce", qop="auth", algorithm=SHA-256, opaque="0paque""#
    case .keyField, .keyParameter, .custom: #"Own realm="apus""#
    }
  }

  /// Whether credentials are sent only after a challenge.
  var needsChallenge: Bool { self == .digest }
}

extension Endpoint where Self == Request<Tokens> {
  /// Returns the refresh request.
  static func newTokens(for token: Secret) -> Self {
    .post("/token", content: .form(["refresh_token": token.value]))
  }
}

/// A custom scheme: a name and a password in two fields and a query parameter. The name's field is not marked as
/// sensitive, and its own name does not suggest that it should be.
struct ThreefoldScheme: AuthenticationScheme {
  var name: String? { nil }
  var locations: [CredentialLocation] { [.field("X-Who"), .field("X-Proof"), .parameter("proof")] }

  func authorize(
    _ request: inout RequestMessage, with credential: Credential, for challenge: Challenge?
  ) throws -> Bool {
    guard case .password(let user, let password) = credential else { return false }
    try request.addField(RawField("X-Who", user))
    try request.addField(RawField("X-Proof", password.value, isSensitive: true))
    try request.addQuery(["proof": password.value])
    return true
  }
}

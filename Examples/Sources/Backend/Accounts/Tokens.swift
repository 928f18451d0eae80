/// What a client gets when it signs in or refreshes (RFC 6749, section 5.1).
struct Tokens: Encodable, Sendable {
  let accessToken: String
  let refreshToken: String
  /// Seconds; a fraction when the lifetime has one. `nil`: the client is not told.
  let expiresIn: Double?
  let tokenType = "Bearer"
}

/// How long tokens are good for, and whether clients are told how long an access token is.
struct TokenLifetimes: Sendable {
  let access: Duration
  let refresh: Duration
  let isTold: Bool
}

/// Who sends a request: an account, in one of its sessions.
struct Principal: Sendable {
  let account: Account
  let session: Int64
}

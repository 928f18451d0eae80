/// What a client gets when it signs in or refreshes (RFC 6749, section 5.1).
struct Tokens: Encodable, Sendable {
  let accessToken: String
  let refreshToken: String
  /// Seconds; a fraction when the lifetime has one.
  let expiresIn: Double
  let tokenType = "Bearer"
}

/// Who sends a request: an account, in one of its sessions.
struct Principal: Sendable {
  let account: Account
  let session: Int64
}

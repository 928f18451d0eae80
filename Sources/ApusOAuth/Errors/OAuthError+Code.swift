extension OAuthError {
  /// A kind of failure. ``OAuthError/description`` states the exact failure.
  public enum Code: Sendable, Hashable {
    /// The user, or the server, declined.
    case accessDenied
    /// The code or the refresh token is invalid, expired, revoked or already used: a new sign-in is required.
    case invalidGrant
    /// The server does not accept the client, or its kind of sign-in.
    case invalidClient
    /// A scope is unknown, or exceeds the user's grant.
    case invalidScope
    /// The user must sign in, consent or choose an account, but the request forbade this step.
    case interactionRequired
    /// The server failed, or is overloaded or down for maintenance.
    case serverUnavailable
    /// The server rejected the request for another reason, see ``OAuthError/serverCode``.
    case rejected
    /// The user did not finish in time.
    case timedOut
    /// A call failed, see ``OAuthError/underlying``.
    case callFailed
    /// A response, a redirect or an ID token is malformed, or belongs to another server or another sign-in.
    case invalidResponse
    /// The server does not support the operation: the endpoint is missing or not https, or the metadata contradicts
    /// itself.
    case unsupported
    /// The app's request is not possible: the client's key is unusable, the authorization was already used, or the
    /// token to refresh or revoke is missing.
    case invalidRequest
    /// The browser could not be opened, or its redirect could not be received.
    case browserFailed
    /// The task was cancelled, or the user closed the browser.
    case cancelled
  }
}

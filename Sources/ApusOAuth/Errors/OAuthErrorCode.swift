extension OAuthError {
  /// A kind of failure. ``OAuthError/description`` names exactly what happened.
  public enum Code: Sendable, Hashable {
    /// The user, or the server, declined.
    case accessDenied
    /// The code or the refresh token is invalid, expired, revoked or used: only a new sign-in helps.
    case invalidGrant
    /// The server does not accept the client, or not with this way to sign in.
    case invalidClient
    /// A scope is unknown, or more than the user granted.
    case invalidScope
    /// The user must sign in, consent or choose an account, which the request forbade.
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
    /// The server cannot be used for this: it has no endpoint for it, or only one that is not https, or its metadata
    /// contradict themselves.
    case unsupported
    /// The app's request cannot be made: the client's key is unusable, the authorization was used before, or there is
    /// nothing to refresh or to revoke.
    case invalidRequest
    /// The browser could not be opened, or its redirect could not be received.
    case browserFailed
    /// The task was cancelled, or the user closed the browser.
    case cancelled
  }
}

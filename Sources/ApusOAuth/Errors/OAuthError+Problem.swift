extension OAuthError {
  /// The exact failure. The raw values of the server's failures are the codes of the IANA registry of OAuth.
  package enum Problem: String, Sendable, Hashable, CaseIterable {
    // RFC 6749 §4.1.2.1 and §5.2.

    /// The request is incomplete or malformed.
    case invalidRequest = "invalid_request"
    /// The client could not prove its identity.
    case invalidClient = "invalid_client"
    /// The code or the refresh token is invalid, expired, revoked or already used: a new sign-in is required.
    case invalidGrant = "invalid_grant"
    /// The client may not use this grant.
    case unauthorizedClient = "unauthorized_client"
    /// The server does not support the grant.
    case unsupportedGrantType = "unsupported_grant_type"
    /// A scope is unknown, or exceeds the user's grant.
    case invalidScope = "invalid_scope"
    /// The user, or the server, declined.
    case accessDenied = "access_denied"
    /// The server does not support authorization codes.
    case unsupportedResponseType = "unsupported_response_type"
    /// The server failed.
    case serverError = "server_error"
    /// The server is overloaded or down for maintenance.
    case temporarilyUnavailable = "temporarily_unavailable"

    // RFC 8628 §3.5.

    /// The user has not finished yet.
    case authorizationPending = "authorization_pending"
    /// The client polls too often.
    case slowDown = "slow_down"
    /// The device code has expired.
    case expiredToken = "expired_token"

    // OpenID Connect Core §3.1.2.6.

    /// The user must take a step that the request forbade.
    case interactionRequired = "interaction_required"
    /// The user must sign in, but the request forbade this step.
    case loginRequired = "login_required"
    /// The user must choose an account, but the request forbade this step.
    case accountSelectionRequired = "account_selection_required"
    /// The user must consent, but the request forbade this step.
    case consentRequired = "consent_required"
    /// The request URI is invalid or expired.
    case invalidRequestURI = "invalid_request_uri"
    /// The request object is invalid.
    case invalidRequestObject = "invalid_request_object"
    /// The server does not support request objects.
    case requestNotSupported = "request_not_supported"
    /// The server does not support request URIs.
    case requestURINotSupported = "request_uri_not_supported"
    /// The server does not support registration in the request.
    case registrationNotSupported = "registration_not_supported"

    // RFC 6750 §3.1, RFC 7009 §2.2.1, RFC 9449 §5.

    /// The token is invalid.
    case invalidToken = "invalid_token"
    /// The token has too few scopes.
    case insufficientScope = "insufficient_scope"
    /// The server cannot revoke tokens of this type.
    case unsupportedTokenType = "unsupported_token_type"
    /// The server rejected the proof of possession.
    case invalidDPoPProof = "invalid_dpop_proof"
    /// The server keeps requesting another nonce in the proof of possession.
    case useDPoPNonce = "use_dpop_nonce"
    /// The server returned an unregistered code, see ``OAuthError/serverCode``.
    case unregistered

    // Failures that the client detects.

    /// A call failed, see ``OAuthError/underlying``.
    case callFailed = "call_failed"
    /// A response does not have the form that the RFCs require.
    case malformedResponse = "malformed_response"
    /// The server's metadata is incomplete or contradicts itself.
    case invalidMetadata = "invalid_metadata"
    /// A URL uses http, and its host is not a loopback address.
    case insecureURL = "insecure_url"
    /// The server has no endpoint for this operation.
    case missingEndpoint = "missing_endpoint"
    /// A response comes from another server than the one to which the request was sent: an attack, or a wrong issuer
    /// (RFC 9207).
    case issuerMismatch = "issuer_mismatch"
    /// A redirect does not match a request of this client: an attack, or an old browser window.
    case stateMismatch = "state_mismatch"
    /// The redirect led to another URL than the request specified.
    case redirectMismatch = "redirect_mismatch"
    /// An ID token belongs to another sign-in.
    case nonceMismatch = "nonce_mismatch"
    /// An ID token is malformed, expired, for another client, or not signed by the server.
    case invalidIDToken = "invalid_id_token"
    /// A key from the app cannot be used.
    case invalidKey = "invalid_key"
    /// The authorization was already used.
    case alreadyUsed = "already_used"
    /// The token to refresh or revoke is missing.
    case missingToken = "missing_token"
    /// The browser could not be opened, or did not return a redirect.
    case browserFailed = "browser_failed"
    /// This machine could not listen for the redirect.
    case listenerFailed = "listener_failed"
    /// The user did not finish in time.
    case timedOut = "timed_out"
    /// The task was cancelled, or the user closed the browser.
    case cancelled

    /// The failures that the client detects: a server's code with the same text has another meaning.
    private static let own: Set<Problem> = [
      .unregistered, .callFailed, .malformedResponse, .invalidMetadata, .insecureURL, .missingEndpoint,
      .issuerMismatch, .stateMismatch, .redirectMismatch, .nonceMismatch, .invalidIDToken, .invalidKey, .alreadyUsed,
      .missingToken, .browserFailed, .listenerFailed, .timedOut, .cancelled,
    ]

    /// Returns the failure with a server's code.
    init(registered text: String) {
      let problem = Problem(rawValue: text)
      self = problem.flatMap { Self.own.contains($0) ? nil : $0 } ?? .unregistered
    }

    /// The kind of failure.
    var code: Code {
      switch self {
      case .accessDenied: .accessDenied
      case .invalidGrant: .invalidGrant
      case .invalidClient, .unauthorizedClient: .invalidClient
      case .invalidScope, .insufficientScope: .invalidScope
      case .interactionRequired, .loginRequired, .accountSelectionRequired, .consentRequired: .interactionRequired
      case .serverError, .temporarilyUnavailable: .serverUnavailable
      case .expiredToken, .timedOut: .timedOut
      case .invalidRequest, .unsupportedGrantType, .unsupportedResponseType, .authorizationPending, .slowDown,
        .invalidRequestURI, .invalidRequestObject, .requestNotSupported, .requestURINotSupported,
        .registrationNotSupported, .invalidToken, .unsupportedTokenType, .invalidDPoPProof, .useDPoPNonce,
        .unregistered:
        .rejected
      case .callFailed: .callFailed
      case .malformedResponse, .issuerMismatch, .stateMismatch, .redirectMismatch, .nonceMismatch, .invalidIDToken:
        .invalidResponse
      case .invalidMetadata, .insecureURL, .missingEndpoint: .unsupported
      case .invalidKey, .alreadyUsed, .missingToken: .invalidRequest
      case .browserFailed, .listenerFailed: .browserFailed
      case .cancelled: .cancelled
      }
    }
  }
}

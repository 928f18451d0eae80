import Testing

@testable import ApusOAuth

@Suite("Codes of failed sign-ins")
struct OAuthCodeTests {
  @Test(
    "The code suggests the app's reaction, and the description states the failure",
    arguments: [
      (.invalidGrant, .invalidGrant, "refresh: invalid_grant"),
      (.loginRequired, .interactionRequired, "login_required"),
      (.temporarilyUnavailable, .serverUnavailable, "temporarily_unavailable"),
      (.unsupportedGrantType, .rejected, "unsupported_grant_type"), (.expiredToken, .timedOut, "expired_token"),
      (.stateMismatch, .invalidResponse, "state_mismatch"), (.missingEndpoint, .unsupported, "missing_endpoint"),
      (.alreadyUsed, .invalidRequest, "already_used"), (.listenerFailed, .browserFailed, "listener_failed"),
    ] as [(OAuthError.Problem, OAuthError.Code, String)])
  func codes(problem: OAuthError.Problem, code: OAuthError.Code, text: String) {
    let error = OAuthError(.refresh, problem, "why")
    #expect(error.code == code && error.description.contains(text) && error.description.hasSuffix(": why"))
  }
}

import HTTPTypes

/// An error of the authorization server (RFC 6749 §4.1.2.1, §5.2).
struct OAuthProblem: Error, Equatable {
  /// The registered error codes that this server uses.
  enum Code: String {
    case invalidRequest = "invalid_request"
    case invalidClient = "invalid_client"
    case invalidGrant = "invalid_grant"
    case invalidScope = "invalid_scope"
    case accessDenied = "access_denied"
    case unsupportedGrantType = "unsupported_grant_type"
    case unsupportedResponseType = "unsupported_response_type"
  }

  let code: Code
  /// The reason, for developers.
  let detail: String

  init(_ code: Code, _ detail: String) {
    (self.code, self.detail) = (code, detail)
  }

  private struct Content: Encodable {
    let error: String
    let errorDescription: String
  }

  /// Returns the response of the token endpoint.
  func response() -> Response {
    var response = Response.json(Content(error: code.rawValue, errorDescription: detail), status: .badRequest)
    response.headers[.cacheControl] = "no-store"
    return response
  }
}

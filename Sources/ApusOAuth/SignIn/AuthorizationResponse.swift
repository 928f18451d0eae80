/// The redirect at the end of an authorization (RFC 6749 §4.1.2). Pure.
struct AuthorizationResponse {
  /// The maximum length of a redirect in bytes.
  static let limit = 16 << 10

  /// The URL to which the server must redirect.
  let redirect: String
  let state: String
  let issuer: String
  /// Whether the redirect must state the issuer.
  let namesIssuer: Bool
  /// The issuers of a server with several tenants; `nil` for a server with one tenant.
  var tenants: IssuerPattern?

  /// Returns the code of a redirect.
  ///
  /// - Parameter url: the complete URL.
  /// - Throws: the error that the redirect carries, or the reason why it is not the response to this request.
  func code(in url: String) throws(OAuthError) -> String {
    guard url.utf8.count <= Self.limit else { throw malformed("the redirect is too long") }
    let complete = url.utf8.prefix { $0 != UInt8(ascii: "#") }
    let parameters = String(Substring(complete)).dropPrefix(redirect)
    guard let query = parameters, query.isEmpty || query.utf8.first == separator else {
      throw OAuthError(.redirect, .redirectMismatch)
    }
    guard let values = FormText.decoded(query.dropFirst()) else {
      throw malformed("the redirect has a parameter twice, or too many parameters")
    }
    // The state is checked before the other parameters are used.
    guard let state = values["state"], SecretText.areEqual(state, self.state) else {
      throw OAuthError(.redirect, .stateMismatch)
    }
    guard values["iss"].map({ isAccepted($0) }) ?? !namesIssuer else { throw OAuthError(.redirect, .issuerMismatch) }
    if let error = values["error"], !error.isEmpty {
      let secrets = [state] + (values["code"].map { [$0] } ?? [])
      throw OAuthError(
        .authorization, ErrorResponse(code: error, message: values["error_description"], secrets: secrets))
    }
    guard let code = values["code"], !code.isEmpty else { throw malformed("the redirect has no code") }
    return code
  }

  private func isAccepted(_ issuer: String) -> Bool { issuer == self.issuer || tenants?.tenant(in: issuer) != nil }

  /// The character between the URL and the parameters.
  private var separator: UInt8 { redirect.utf8.contains(UInt8(ascii: "?")) ? UInt8(ascii: "&") : UInt8(ascii: "?") }

  private func malformed(_ reason: String) -> OAuthError { OAuthError(.redirect, .malformedResponse, reason) }
}

extension String {
  /// Returns the text after a prefix, compared byte by byte; `nil` if the text does not have the prefix.
  fileprivate func dropPrefix(_ prefix: String) -> Substring? {
    guard utf8.starts(with: prefix.utf8) else { return nil }
    return Substring(utf8.dropFirst(prefix.utf8.count))
  }
}

public import ApusCore
import ApusJSON

extension AuthorizationServer {
  /// Reads the metadata of a server (RFC 8414 §3, OpenID Connect Discovery §4).
  ///
  /// The document of RFC 8414 is requested first; if it does not exist, the document of OpenID is requested.
  ///
  /// ```swift
  /// let server = try await AuthorizationServer.discover("https://id.example.com", using: client)
  /// ```
  ///
  /// - Parameters:
  ///   - issuer: the identity of the server: an https URL without query, exactly as the server spells it.
  ///   - issuerPattern: the issuers of a server with several tenants, see ``issuerPattern``. Default: `nil`, the server
  ///     has one tenant. A server whose own document states the pattern is accepted only with this parameter.
  ///   - client: sends the requests, without its credentials.
  /// - Returns: the server. All its URLs are https, or http on this machine if the issuer is such a URL, too.
  /// - Throws: ``OAuthError`` with the code ``OAuthError/Code/invalidResponse`` if the
  ///   document belongs to another issuer; ``OAuthError/Code/cancelled`` when the task is cancelled.
  public static func discover(
    _ issuer: String, issuerPattern: String? = nil, using client: Client
  ) async throws(OAuthError) -> AuthorizationServer {
    let calls = OAuthCalls(client: client)
    let urls = try metadataURLs(of: issuer)
    if let issuerPattern { _ = try IssuerPattern(issuerPattern, for: .discovery) }
    do throws(OAuthError) {
      return try read(try await calls.get(urls.oauth, for: .discovery), issuer, issuerPattern)
    } catch {
      // Servers without this document respond in many ways, some of them with the page of an app for any path.
      let isNothing = error.status.map { (300..<500).contains($0) } ?? (error.problem == .malformedResponse)
      guard isNothing else { throw error }
    }
    return try read(try await calls.get(urls.openID, for: .discovery), issuer, issuerPattern)
  }

  /// Returns the URLs of the two documents.
  static func metadataURLs(of issuer: String) throws(OAuthError) -> (oauth: ServerURL, openID: ServerURL) {
    let url = try ServerURL(issuer, for: .discovery, "issuer")
    guard !issuer.utf8.contains(UInt8(ascii: "?")) else {
      throw OAuthError(.discovery, .invalidMetadata, "the issuer has a query")
    }
    let start = "\(url.origin)"
    let path = String(
      Substring(
        issuer.utf8.drop(while: { $0 != UInt8(ascii: ":") }).dropFirst(3)
          .drop(while: { $0 != UInt8(ascii: "/") })))
    let trimmed = path.hasSuffix("/") ? String(path.dropLast()) : path
    return (
      try ServerURL(start + "/.well-known/oauth-authorization-server" + trimmed, for: .discovery, "issuer"),
      try ServerURL(start + trimmed + "/.well-known/openid-configuration", for: .discovery, "issuer")
    )
  }

  /// Reads a document.
  static func read(
    _ document: JSONValue, _ issuer: String, _ pattern: String? = nil
  ) throws(OAuthError) -> AuthorizationServer {
    guard let named = document.text("issuer") else {
      throw OAuthError(.discovery, .invalidMetadata, "the document has no issuer")
    }
    guard named == issuer || named == pattern else {
      let hint =
        named == issuer + "/" || named + "/" == issuer
        ? ": only the slash at the end differs"
        : named.utf8.contains(UInt8(ascii: "{")) ? ": it is a pattern, see issuerPattern" : ""
      throw OAuthError(.discovery, .issuerMismatch, "the document is that of another issuer\(hint)")
    }
    guard let tokenEndpoint = document.text("token_endpoint") else {
      throw OAuthError(.discovery, .invalidMetadata, "the document has no token endpoint")
    }
    var server = AuthorizationServer(issuer: issuer, tokenEndpoint: tokenEndpoint)
    server.issuerPattern = pattern
    server.authorizationEndpoint = document.text("authorization_endpoint")
    server.pushedAuthorizationEndpoint = document.text("pushed_authorization_request_endpoint")
    server.requiresPushedAuthorization = document.flag("require_pushed_authorization_requests")
    server.deviceAuthorizationEndpoint = document.text("device_authorization_endpoint")
    server.revocationEndpoint = document.text("revocation_endpoint")
    server.keysURL = document.text("jwks_uri")
    server.namesIssuer = document.flag("authorization_response_iss_parameter_supported")
    server.scopes = document.strings("scopes_supported")
    server.codeChallengeMethods = document.strings("code_challenge_methods_supported")
    server.idTokenAlgorithms = document.strings("id_token_signing_alg_values_supported")
    server.proofAlgorithms = document.strings("dpop_signing_alg_values_supported")
    try server.checkURLs()
    return server
  }

  private func checkURLs() throws(OAuthError) {
    let source = try ServerURL(issuer, for: .discovery, "issuer").origin
    let urls = [
      ("authorization endpoint", authorizationEndpoint), ("token endpoint", tokenEndpoint),
      ("endpoint of pushed requests", pushedAuthorizationEndpoint),
      ("device endpoint", deviceAuthorizationEndpoint), ("revocation endpoint", revocationEndpoint),
      ("URL of the keys", keysURL),
    ]
    for (name, url) in urls {
      guard let url else { continue }
      // A document that came over https must not state a plain http URL, not even a URL on this machine.
      guard try !ServerURL(url, for: .discovery, name).origin.isDowngrade(from: source) else {
        throw OAuthError(.discovery, .insecureURL, "the \(name) must be https, as the issuer is")
      }
    }
  }
}

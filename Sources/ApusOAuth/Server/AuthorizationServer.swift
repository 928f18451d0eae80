/// An authorization server: its issuer and its endpoints (RFC 8414, OpenID Connect Discovery).
///
/// ``discover(_:issuerPattern:using:)`` reads them from the server. A server without metadata is described manually:
///
/// ```swift
/// var server = AuthorizationServer(issuer: "https://id.example.com", tokenEndpoint: "https://id.example.com/token")
/// server.authorizationEndpoint = "https://id.example.com/authorize"
/// ```
///
/// Every URL must be https, or http on this machine; a step that needs any other URL throws
/// ``OAuthError/Code/unsupported``.
public struct AuthorizationServer: Sendable, Hashable {
  /// The identity of the server, a URL. Compared exactly.
  public let issuer: String
  /// The pattern of the issuers in the ID tokens of a server with several tenants, such as
  /// `https://login.example.com/{tenantid}/v2.0`; `nil`: all ID tokens have ``issuer``.
  ///
  /// `{tenantid}` stands for one segment of the path, which must be the token's claim `tid`. Users of every tenant can
  /// sign in: check ``IDToken/issuer`` if only some of them may.
  public var issuerPattern: String?
  /// The page where users authorize the client; `nil` if the server has none.
  public var authorizationEndpoint: String?
  /// The endpoint that issues tokens.
  public var tokenEndpoint: String
  /// The endpoint to which authorization requests are pushed (RFC 9126); `nil` if the server has none.
  public var pushedAuthorizationEndpoint: String?
  /// Whether the server accepts only pushed authorization requests. Default: `false`.
  package var requiresPushedAuthorization = false
  /// The endpoint that issues device codes (RFC 8628); `nil` if the server has none.
  public var deviceAuthorizationEndpoint: String?
  /// The endpoint that revokes tokens (RFC 7009); `nil` if the server has none.
  public var revocationEndpoint: String?
  /// The URL of the keys that sign ID tokens; `nil` if the server has none.
  public var keysURL: String?
  /// Whether redirects state the issuer, so that a redirect without it is refused (RFC 9207 §2.4). Default: `false`.
  package var namesIssuer = false
  /// The scopes that the server supports; `nil` if unknown.
  package var scopes: [String]?
  /// The code challenge methods that the server supports; `nil` if unknown.
  package var codeChallengeMethods: [String]?
  /// The signature algorithms of ID tokens; `nil` if unknown.
  package var idTokenAlgorithms: [String]?
  /// The signature algorithms of proofs of possession (RFC 9449 §5.1); `nil` if unknown. This client's proofs use
  /// ES256.
  package var proofAlgorithms: [String]?

  /// Creates a server without using its metadata.
  ///
  /// - Parameters:
  ///   - issuer: the identity of the server, as in its ID tokens and redirects.
  ///   - tokenEndpoint: the endpoint that issues tokens.
  public init(issuer: String, tokenEndpoint: String) {
    self.issuer = issuer
    self.tokenEndpoint = tokenEndpoint
  }

  /// Returns the URL of an endpoint, after checking that it may be used.
  ///
  /// - Parameters:
  ///   - endpoint: the endpoint.
  ///   - step: the step that needs it.
  func url(
    _ endpoint: any KeyPath<AuthorizationServer, String?> & Sendable, for step: OAuthError.Step
  ) throws(OAuthError) -> ServerURL {
    guard let text = self[keyPath: endpoint] else {
      throw OAuthError(step, .missingEndpoint, "the server has no endpoint for it")
    }
    return try ServerURL(text, for: step, "endpoint")
  }
}

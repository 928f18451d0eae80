public import ApusCore
public import ApusMiddleware

/// The result of a sign-in: the tokens, their scopes and the user's identity.
public struct OAuthGrant: Sendable, SelfRedacting {
  /// The tokens. Store them in a credentials store.
  public let tokens: Tokens
  /// The granted scopes.
  public let scopes: [String]
  /// The requested scopes that were not granted, in the requested order.
  public let missingScopes: [String]
  /// The claims of the verified ID token; `nil` without the scope `openid`.
  public let identity: IDToken?

  /// - Parameter requested: the requested scopes, which are granted unless the server states other scopes (RFC 6749
  ///   §5.1).
  init(_ tokens: Tokens, requested: [String], identity: IDToken? = nil) {
    let scopes = tokens.scopes ?? requested
    self.scopes = scopes
    missingScopes = requested.filter { !scopes.contains($0) }
    var tokens = tokens
    tokens.scopes = scopes
    self.tokens = tokens
    self.identity = identity
  }

  /// The numbers of granted and missing scopes.
  public var description: String {
    "grant of \(scopes.count) scopes, \(missingScopes.count) missing\(identity == nil ? "" : ", with an identity")"
  }
}

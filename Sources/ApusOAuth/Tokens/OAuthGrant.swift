public import ApusCore
public import ApusMiddleware

/// The result of a sign-in: tokens, what they permit, and who signed in.
public struct OAuthGrant: Sendable, SelfRedacting {
  /// The tokens. Store them in a credentials store.
  public let tokens: Tokens
  /// The granted scopes.
  public let scopes: [String]
  /// The scopes that were asked for and not granted, in the order asked for.
  public let missingScopes: [String]
  /// The claims of the verified ID token; `nil` without the scope `openid`.
  public let identity: IDToken?

  /// - Parameter asked: the scopes that were asked for, which are those granted unless the server names others (RFC
  ///   6749 §5.1).
  init(_ tokens: Tokens, asked: [String], identity: IDToken? = nil) {
    let scopes = tokens.scopes ?? asked
    self.scopes = scopes
    missingScopes = asked.filter { !scopes.contains($0) }
    var tokens = tokens
    tokens.scopes = scopes
    self.tokens = tokens
    self.identity = identity
  }

  /// The number of scopes, granted and missing.
  public var description: String {
    "grant of \(scopes.count) scopes, \(missingScopes.count) missing\(identity == nil ? "" : ", with an identity")"
  }
}

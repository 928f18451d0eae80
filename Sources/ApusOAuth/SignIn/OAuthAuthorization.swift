public import ApusCore
import ApusMiddleware
import Crypto
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An authorization in progress: the page to open, and the values that verify its result. An authorization can be
/// finished once, with ``OAuthClient/finish(_:with:)``.
public final class OAuthAuthorization: Sendable, SelfRedacting {
  /// The secrets of one authorization, each used once, and the conditions that its result must satisfy.
  struct Secrets: Sendable {
    let state: String
    /// The nonce of the ID token; `nil` if no ID token was requested.
    let nonce: String?
    /// The verifier of the code (RFC 7636 §4.1).
    let verifier: String
    /// The key to which the tokens are bound; `nil` if they are not bound.
    let key: ProofKey?
    /// The requested maximum age of the user's authentication; `nil`: any age.
    var age: AuthenticationAge?

    init(state: String, openID: Bool, key: ProofKey?, random: () -> UInt64) {
      self.state = state
      nonce = openID ? SecretText.make(random) : nil
      verifier = SecretText.make(random)
      self.key = key
    }

    /// The challenge of the verifier with S256 (RFC 7636 §4.2).
    var challenge: String { Base64URL.encode(SHA256.hash(data: Data(verifier.utf8))) }
  }

  /// The URL of the page to open in a browser.
  public let page: String
  /// The URL to which the server redirects the browser.
  public let redirect: String
  /// The requested scopes.
  let scopes: [String]
  let secrets: Secrets
  private let isUsed = Atomic(false)

  init(page: String, redirect: String, scopes: [String], _ secrets: Secrets) {
    (self.page, self.redirect, self.scopes, self.secrets) = (page, redirect, scopes, secrets)
  }

  /// Marks the authorization as used. Throws if it was used before.
  func use() throws(OAuthError) {
    if isUsed.exchange(true, ordering: .relaxed) { throw OAuthError(.redirect, .alreadyUsed) }
  }

  /// The number of scopes.
  public var description: String { "authorization of \(scopes.count) scopes" }
}

import ApusJSON

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The checks of an ID token (OpenID Connect Core §3.1.3.7). Pure: keys and time are parameters.
struct IDTokenRules {
  /// The server.
  let issuer: String
  /// The client's id.
  let client: String
  /// The algorithms that the server announces; `nil` if unknown.
  let algorithms: [String]?
  /// The nonce of the sign-in; `nil` if the sign-in had no nonce.
  let nonce: String?
  /// The access token that came with the ID token.
  let accessToken: String
  /// The maximum difference of the clocks.
  let leeway: Duration
  /// The issuers of a server with several tenants; `nil` for a server with one tenant.
  var tenants: IssuerPattern?
  /// The requested maximum age of the user's authentication; `nil`: any age.
  var age: AuthenticationAge?

  /// The result of a check with the known keys.
  enum Outcome {
    case verified(IDToken)
    /// No key has the token's key ID.
    case unknownKey
  }

  /// Checks a token.
  func check(_ text: String, with keys: [JSONWebKey], at now: Date) throws(OAuthError) -> Outcome {
    guard let token = SignedToken(text) else { throw invalid("it is malformed") }
    guard let algorithm = token.algorithm, algorithms?.contains(algorithm.rawValue) ?? true else {
      throw invalid("its algorithm is not allowed")
    }
    let suited = keys.filter { $0.fits(algorithm) && (token.keyID == nil || $0.id == token.keyID) }
    // A token without a key ID is accepted only if a single key fits.
    guard !suited.isEmpty, token.keyID != nil || suited.count == 1 else { return .unknownKey }
    guard suited.contains(where: { $0.verifies(token.signature, of: token.message, algorithm) }) else {
      throw invalid("its signature is wrong")
    }
    return .verified(try claims(token.claims, algorithm, at: now))
  }

  private func claims(
    _ claims: JSONValue, _ algorithm: SignatureAlgorithm, at now: Date
  ) throws(OAuthError) -> IDToken {
    guard let issuer = claims.text("iss"), isAccepted(issuer, claims) else {
      throw OAuthError(.idToken, .issuerMismatch)
    }
    guard let subject = claims.text("sub") else { throw invalid("it has no subject") }
    let audience = claims["aud"]?.string.map { [$0] } ?? claims["aud"]?.array?.compactMap(\.string) ?? []
    guard audience.contains(client) else { throw invalid("it is for another client") }
    if let party = claims.member("azp") {
      guard party.string == client else { throw invalid("it is for another client") }
    } else if audience.count > 1 {
      throw invalid("it is for several clients and does not name the one that asked")
    }
    let (expires, issued) = try times(claims, at: now)
    if let nonce {
      guard let named = claims["nonce"]?.string, SecretText.areEqual(named, nonce) else {
        throw OAuthError(.idToken, .nonceMismatch)
      }
    }
    if let hash = claims.member("at_hash") {
      guard hash.string == Self.hash(of: accessToken, algorithm) else {
        throw invalid("it belongs to another access token")
      }
    }
    return IDToken(
      issuer: issuer, subject: subject, audience: audience, expires: expires, issued: issued,
      claims: claims.object ?? [:])
  }

  /// Whether the issuer is the server, or the server's tenant that the token states.
  private func isAccepted(_ issuer: String, _ claims: JSONValue) -> Bool {
    guard let tenants else { return issuer == self.issuer }
    guard let tenant = tenants.tenant(in: issuer) else { return false }
    return claims.text("tid") == tenant
  }

  private func times(_ claims: JSONValue, at now: Date) throws(OAuthError) -> (expires: Date, issued: Date) {
    guard let expires = Self.date(claims, "exp"), let issued = Self.date(claims, "iat") else {
      throw invalid("it has no times")
    }
    let leeway = Double(leeway.components.seconds)
    guard now.timeIntervalSince(expires) < leeway else { throw invalid("it has expired") }
    guard issued.timeIntervalSince(now) <= leeway else { throw invalid("it is from the future") }
    if claims.member("nbf") != nil {
      guard let start = Self.date(claims, "nbf"), start.timeIntervalSince(now) <= leeway else {
        throw invalid("it is not valid yet")
      }
    }
    if let age {
      guard let authenticated = Self.date(claims, "auth_time") else {
        throw invalid("it has no time of the user's authentication")
      }
      guard age.includes(authenticated, leeway: leeway) else { throw invalid("the user authenticated too long ago") }
      guard authenticated.timeIntervalSince(now) <= leeway else {
        throw invalid("the user's authentication is from the future")
      }
    }
    return (expires, issued)
  }

  /// Returns a time in seconds since 1970; `nil` if the claim is missing.
  static func date(_ claims: JSONValue, _ name: String) -> Date? {
    claims.seconds(name).flatMap { abs($0) < 1e12 ? Date(timeIntervalSince1970: $0) : nil }
  }

  /// Returns the hash of an access token: the left half of the hash that belongs to the algorithm (OpenID Connect Core
  /// §3.1.3.6).
  static func hash(of token: String, _ algorithm: SignatureAlgorithm) -> String {
    let hash = Array(algorithm.hash(of: Data(token.utf8)))
    return Base64URL.encode(hash.prefix(hash.count / 2))
  }

  private func invalid(_ reason: String) -> OAuthError { OAuthError(.idToken, .invalidIDToken, reason) }
}

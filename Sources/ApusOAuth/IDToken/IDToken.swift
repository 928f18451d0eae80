public import ApusCore
public import ApusJSON

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// The verified claims that identify the user in an ID token (OpenID Connect Core §2).
public struct IDToken: Sendable, SelfRedacting {
  /// The server that issued the token.
  public let issuer: String
  /// The user's ID, unique and never reassigned within the issuer. Use it, not ``email``, to identify an account.
  public let subject: String
  /// The clients for which the token was issued.
  package let audience: [String]
  /// The expiration of the token itself. The sign-in may last longer.
  package let expires: Date
  /// The time when the token was issued.
  package let issued: Date
  /// All claims, as the server wrote them. Servers may ignore a request for a class of authentication (`acr_values`),
  /// for example with a second factor: check the claim `acr`.
  public let claims: [String: JSONValue]

  /// Returns a claim that is a string; `nil` if it is missing or empty.
  public subscript(_ claim: String) -> String? { JSONValue.object(claims).text(claim) }

  /// The user's email address; `nil` if unknown. The server may not have verified it, and it may change.
  public var email: String? { self["email"] }
  /// The user's name; `nil` if unknown.
  public var name: String? { self["name"] }
  /// The time at which the user authenticated; `nil` if unknown.
  package var authenticated: Date? { IDTokenRules.date(JSONValue.object(claims), "auth_time") }

  /// The number of claims only, because claims are personal data.
  public var description: String { "ID token with \(claims.count) claims" }
}

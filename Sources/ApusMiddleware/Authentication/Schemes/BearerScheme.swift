public import ApusCore

/// A token in `Authorization: Bearer` (RFC 6750 §2.1).
public struct BearerScheme: AuthenticationScheme {
  /// `Bearer`
  public var name: String? { "Bearer" }
  /// `Authorization`
  public var places: [CredentialPlace] { [.field("Authorization")] }

  /// Makes the scheme.
  public init() {}

  /// Adds the token.
  public func authorize(
    _ request: inout RequestMessage, with credential: Credential, for challenge: Challenge?
  ) throws -> Bool {
    request.authorize(by: "Bearer", try credential.checkedToken())
    return true
  }
}

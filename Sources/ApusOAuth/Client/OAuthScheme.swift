import ApusCore
import ApusMiddleware
import HTTPTypes

/// The schemes of OAuth tokens: `Bearer` (RFC 6750), or `DPoP` with a proof for each message if the tokens are bound to
/// a key (RFC 9449 §7).
struct OAuthScheme: AuthenticationScheme {
  let client: OAuthClient

  var name: String? { client.bindsTokens ? "DPoP" : "Bearer" }
  var locations: [CredentialLocation] { [.field("Authorization"), .field("DPoP")] }

  /// Returns the challenge of the scheme `DPoP`, or else the challenge of `Bearer`. A server that accepts both schemes
  /// may state only one of them.
  func choose(among challenges: [Challenge]) -> Challenge? {
    challenges.first { $0.matches(scheme: "DPoP") } ?? challenges.first { $0.matches(scheme: "Bearer") }
  }

  func authorize(
    _ request: inout RequestMessage, with credential: Credential, for challenge: Challenge?
  ) throws -> Bool {
    guard case .tokens(let tokens) = credential, let stored = tokens.proofKey, ProofKey.bindsAccess(stored) else {
      let token = try credential.checkedToken()
      try request.addField(RawField("Authorization", "Bearer \(token)", isSensitive: true))
      return true
    }
    guard let key = ProofKey(stored), let origin = request.origin else {
      throw TransportError(
        .invalidRequest, requestState: .notSent, detail: "the key to which the token is bound is malformed")
    }
    let token = try credential.checkedToken()
    let use = ProofKey.Use(
      method: request.head.method.rawValue, url: String(request.url.prefix { $0 != "?" }), date: client.now(),
      id: SecretText.make(client.runtime.random), nonce: client.shared.nonces[origin], accessToken: token)
    try request.addField(RawField("Authorization", "DPoP \(token)", isSensitive: true))
    try request.addField(RawField("DPoP", try key.proof(for: use), isSensitive: true))
    return true
  }

  func receive(
    _ response: ResponseMessage, to request: RequestMessage, with credential: Credential, for challenge: Challenge?
  ) throws -> Bool {
    guard case .tokens(let tokens) = credential, let stored = tokens.proofKey, ProofKey.bindsAccess(stored),
      let origin = request.origin, client.shared.nonces.store(response.head.headerFields, from: origin),
      response.statusCode == 401
    else { return false }
    return Challenge.all(in: response.head.headerFields).contains {
      $0.matches(scheme: "DPoP") && $0["error"] == "use_dpop_nonce"
    }
  }
}

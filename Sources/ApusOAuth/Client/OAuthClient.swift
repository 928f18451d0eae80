public import ApusCore
import ApusJSON
import ApusMiddleware

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A client of an authorization server: signs users in, refreshes their tokens and signs them out.
///
/// ```swift
/// let server = try await AuthorizationServer.discover("https://id.example.com", using: client)
/// let oauth = OAuthClient(id: "app", server: server, using: client)
/// let grant = try await oauth.signIn(scopes: ["openid", "films:read"], redirect: .loopback(), browser: .printed)
/// store.set(grant.tokens)
/// environment.authentication = .oauth(oauth, store)
/// ```
///
/// Copies share the server's keys and nonces.
public struct OAuthClient: Sendable, SelfRedacting {
  /// The state that copies share.
  final class Shared: Sendable {
    let keys: KeySets
    let nonces = ProofNonces()

    init(clock: any MonotonicClock) {
      keys = KeySets(clock: clock)
    }
  }

  /// The ID under which the client is registered at the server. The ID is not secret.
  public let id: String
  /// The server.
  public let server: AuthorizationServer
  /// How the client proves its identity. Default: ``ClientAuthentication/none``.
  public var authentication = ClientAuthentication.none
  /// Whether tokens are bound to a new private key of each sign-in (RFC 9449), so that a stolen token is useless
  /// without the key. Default: `false`.
  ///
  /// The server must support proofs with ES256. If its metadata states only other algorithms, no request is sent, and
  /// the step throws ``OAuthError/Code/unsupported``.
  public var bindsTokens = false
  /// Whether a server may respond to the proof of ``bindsTokens`` with an access token that is not bound to the key.
  /// Anyone who has such a token can use it. Default: `false`: such tokens are refused.
  ///
  /// The refresh token of a client without a secret is bound nevertheless (RFC 9449 §5), so the key is stored with it.
  public var acceptsBearer = false
  /// The maximum time that the user may take to sign in with a browser. Default: 5 minutes.
  public var signInTimeout = Duration.seconds(300)
  /// The maximum difference between this machine's clock and the server's when an ID token is checked.
  let clockTolerance = Duration.seconds(60)
  let calls: OAuthCalls
  let now: @Sendable () -> Date
  let shared: Shared

  /// Creates a client.
  ///
  /// - Parameters:
  ///   - id: the ID under which the client is registered at the server.
  ///   - server: the server.
  ///   - client: sends the requests, without its credentials: its timeouts, retries and observers apply.
  ///   - now: the wall clock, for checking ID tokens and dating proofs. Default: the system's clock.
  public init(
    id: String, server: AuthorizationServer, using client: Client, now: @escaping @Sendable () -> Date = { Date() }
  ) {
    (self.id, self.server, self.now) = (id, server, now)
    calls = OAuthCalls(client: client)
    shared = Shared(clock: client.runtime.clock)
  }

  /// The ID and the issuer.
  public var description: String { "\(id) at \(server.issuer)" }
}

extension OAuthClient {
  typealias Form = [(name: String, value: String)]

  var runtime: Runtime { calls.client.runtime }

  /// Posts a form with the client's identity, and with a proof of possession of a key.
  ///
  /// If the server requires a nonce in the proof, the request is sent once more with the nonce; the server has not
  /// processed the first request (RFC 9449 §8).
  func post(
    _ url: ServerURL, _ form: Form, for step: OAuthError.Step, proving key: ProofKey? = nil
  ) async throws(OAuthError) -> JSONValue {
    var isRepeated = false
    while true {
      let response = try await calls.post(try submission(of: form, to: url, step, key), for: step)
      let hasNonce = shared.nonces.store(response.fields, from: url.origin)
      switch response.json {
      case .success(let json): return json
      case .failure(let error):
        guard key != nil, error.problem == .useDPoPNonce, hasNonce, !isRepeated else { throw error }
        isRepeated = true
      }
    }
  }

  private func submission(
    of form: Form, to url: ServerURL, _ step: OAuthError.Step, _ key: ProofKey?
  ) throws(OAuthError) -> OAuthCalls.Submission {
    var form = form
    do {
      let occasion = ClientAuthentication.Occasion(
        issuer: server.issuer, endpoint: url.text, date: now(), id: SecretText.make(runtime.random))
      var fields = try authentication.identify(&form, as: id, occasion)
      if let key {
        let use = ProofKey.Use(
          method: "POST", url: String(url.text.prefix { $0 != "?" }), date: now(),
          id: SecretText.make(runtime.random), nonce: shared.nonces[url.origin])
        fields.append(RawField("DPoP", try key.proof(for: use), isSensitive: true))
      }
      return OAuthCalls.Submission(url: url, form: form, fields: fields, secret: authentication.secret)
    } catch {
      throw OAuthError(step, .invalidKey, underlying: error)
    }
  }

  /// Requests tokens from the token endpoint.
  func tokens(_ form: Form, for step: OAuthError.Step, boundTo key: ProofKey?) async throws(OAuthError) -> Tokens {
    let url = try ServerURL(server.tokenEndpoint, for: step, "token endpoint")
    let start = runtime.clock.now
    let json = try await post(url, form, for: step, proving: key)
    var tokens = try TokenResponse(step: step, key: key, acceptsBearer: acceptsBearer).tokens(json)
    // The lifetime starts when the server issues the tokens. A refresh subtracts the elapsed time itself.
    if step != .refresh {
      tokens.lifetime = tokens.lifetime.map { max(.zero, $0 - start.duration(to: runtime.clock.now)) }
    }
    return tokens
  }

  /// Checks the ID token of a sign-in.
  ///
  /// - Parameters:
  ///   - nonce: the nonce of the sign-in; `nil` if the sign-in had no nonce.
  ///   - age: the requested maximum age of the user's authentication; `nil`: any age.
  /// - Returns: `nil` if the sign-in did not request an ID token.
  func identity(
    of tokens: Tokens, requested scopes: [String], nonce: String?, age: AuthenticationAge? = nil
  ) async throws(OAuthError) -> IDToken? {
    guard scopes.contains("openid") else { return nil }
    guard let token = tokens.idToken else {
      throw OAuthError(.idToken, .malformedResponse, "the response has no ID token")
    }
    let rules = IDTokenRules(
      issuer: server.issuer, client: id, algorithms: server.idTokenAlgorithms, nonce: nonce,
      accessToken: tokens.access.value, leeway: clockTolerance, tenants: try server.tenants(for: .idToken), age: age)
    let url = try server.url(\.keysURL, for: .keys)
    let calls = calls
    return try await shared.keys.check(
      token.value, by: rules, at: now()
    ) { () async throws(OAuthError) in
      guard let keys = JSONWebKey.all(in: try await calls.get(url, for: .keys)) else {
        throw OAuthError(.keys, .malformedResponse, "the response is no set of keys")
      }
      return keys
    }
  }
}

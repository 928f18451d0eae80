import ApusCore
import ApusJSON
import ApusMiddleware

extension OAuthClient {
  /// Signs a user in on another device (RFC 8628): for devices without a browser, and remote terminals.
  ///
  /// ```swift
  /// let grant = try await oauth.signInOnAnotherDevice(scopes: ["films:read"]) { prompt in
  ///   print("Open \(prompt.page) and enter \(prompt.userCode)")
  /// }
  /// ```
  ///
  /// The client polls the server at the server's interval until the user has finished. The client polls less often when
  /// the server requests this, and when the server cannot be reached.
  ///
  /// - Parameters:
  ///   - scopes: the scopes to request.
  ///   - show: displays the code to the user; called once.
  /// - Throws: ``OAuthError``:
  ///   ``OAuthError/Code/accessDenied`` if the user declined, ``OAuthError/Code/timedOut`` if the code has expired,
  ///   ``OAuthError/Code/cancelled`` when the task is cancelled.
  public func signInOnAnotherDevice(
    scopes: [String], show: @Sendable (DevicePrompt) async -> Void
  ) async throws(OAuthError) -> OAuthGrant {
    let url = try server.url(\.deviceAuthorizationEndpoint, for: .deviceAuthorization)
    let key = try newProofKey(for: .deviceAuthorization)
    let form: Form = scopes.isEmpty ? [] : [("scope", scopes.joined(separator: " "))]
    let requested = runtime.clock.now
    let json = try await post(url, form, for: .deviceAuthorization)
    guard let code = json.text("device_code") else {
      throw OAuthError(.deviceAuthorization, .malformedResponse, "the response has no device code")
    }
    let prompt = try DevicePrompt(json)
    let interval = json.seconds("interval").map { Duration(clampingSeconds: $0) }
    let polling = DevicePolling(interval: interval, lifetime: prompt.lifetime, now: requested)
    await show(prompt)
    let tokens = try await tokens(for: code, polling, boundTo: key)
    return OAuthGrant(
      tokens, requested: scopes, identity: try await identity(of: tokens, requested: scopes, nonce: nil))
  }

  private func tokens(
    for code: String, _ polling: DevicePolling, boundTo key: ProofKey?
  ) async throws(OAuthError) -> Tokens {
    var polling = polling
    let form: Form = [("grant_type", "urn:ietf:params:oauth:grant-type:device_code"), ("device_code", code)]
    while true {
      do {
        try await runtime.clock.sleep(until: polling.wake)
      } catch {
        throw OAuthError(.deviceToken, .cancelled)
      }
      guard polling.canPoll else {
        throw OAuthError(.deviceToken, .expiredToken, "the user did not finish in time")
      }
      do throws(OAuthError) {
        return try await tokens(form, for: .deviceToken, boundTo: key)
      } catch {
        guard let outcome = DevicePolling.Outcome(error) else { throw error }
        polling.record(outcome, now: runtime.clock.now)
      }
    }
  }
}

extension DevicePolling.Outcome {
  /// - Returns: `nil` if the error ends the sign-in.
  init?(_ error: OAuthError) {
    switch error.problem {
    case .authorizationPending: self = .pending
    case .slowDown: self = .slowDown
    case .temporarilyUnavailable, .serverError: self = .unreachable
    case .callFailed where error.status.map({ $0 >= 500 || $0 == 429 }) ?? true: self = .unreachable
    default: return nil
    }
  }
}

extension DevicePrompt {
  /// The code's lifetime if the server states no lifetime, although a server must state it (RFC 8628 §3.2).
  private static let defaultLifetime = Duration.seconds(600)

  fileprivate init(_ json: JSONValue) throws(OAuthError) {
    // The second name of the member comes from an early draft, which some servers still implement.
    guard let written = json.text("user_code"),
      let page = json.text("verification_uri") ?? json.text("verification_url")
    else {
      throw OAuthError(.deviceAuthorization, .malformedResponse, "the response has no page and code for the user")
    }
    // A longer code would be truncated.
    guard written.utf8.count <= 100, let userCode = ServerText.code(written) else {
      throw OAuthError(.deviceAuthorization, .malformedResponse, "the code for the user cannot be shown")
    }
    self.userCode = userCode
    self.page = try ServerURL(page, for: .deviceAuthorization, "page for the user").text
    completePage = json.text("verification_uri_complete").flatMap {
      try? ServerURL($0, for: .deviceAuthorization, "page for the user").text
    }
    lifetime = TokenResponse.lifetime(json) ?? Self.defaultLifetime
  }
}

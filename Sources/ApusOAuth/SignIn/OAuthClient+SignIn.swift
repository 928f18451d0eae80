import ApusCore

extension OAuthClient {
  /// Signs a user in with a browser: authorization with a code and PKCE (RFC 6749 §4.1, RFC 7636, RFC 8252).
  ///
  /// - Parameters:
  ///   - scopes: the scopes to request. With `openid` the server identifies the user by an ID token.
  ///   - redirect: the redirect, see ``OAuthRedirect``.
  ///   - browser: opens the page.
  ///   - parameters: further parameters of the authorization request, such as `prompt`, `login_hint` or `max_age`. With
  ///     `max_age` and the scope `openid`, a user who authenticated earlier is refused. Default: none.
  /// - Returns: the tokens, and the user's identity with the scope `openid`. Store the tokens.
  /// - Throws: ``OAuthError``: the errors of ``finish(_:with:)``; ``OAuthError/Code/timedOut``, see ``signInTimeout``;
  ///   ``OAuthError/Code/cancelled`` when the task is cancelled or the user closed the browser.
  public func signIn(
    scopes: [String], redirect: OAuthRedirect, browser: any AuthorizationBrowser,
    parameters: [String: String] = [:]
  ) async throws(OAuthError) -> OAuthGrant {
    switch redirect.kind {
    case .uri(let uri):
      let authorization = try await authorization(scopes: scopes, redirect: uri, parameters: parameters)
      return try await finish(authorization, within: signInTimeout) {
        try await browser.open(authorization.page, redirect: uri)
      }
    case .loopback(let port, let path):
      // The listener is created first, because its port is part of the request. The listener must know the state of its
      // redirect.
      let state = newState()
      let listener = try LoopbackListener(port: port, path: path, state: state)
      defer { listener.close() }
      let authorization = try await authorization(scopes, listener.redirect, parameters, state: state)
      return try await finish(authorization, within: signInTimeout) {
        try await Self.redirect(of: authorization, in: browser, to: listener)
      }
    }
  }

  private func finish(
    _ authorization: OAuthAuthorization, within limit: Duration, arrival: @escaping @Sendable () async throws -> String?
  ) async throws(OAuthError) -> OAuthGrant {
    let clock = runtime.clock
    let url: String?
    do {
      url = try await Self.first(within: limit, on: clock) { try await arrival() }
    } catch let error as OAuthError {
      throw error
    } catch is CancellationError {
      throw OAuthError(.authorization, .cancelled)
    } catch {
      throw OAuthError(.authorization, .browserFailed, underlying: error)
    }
    guard let url else { throw OAuthError(.redirect, .browserFailed, "the browser has returned no redirect") }
    return try await finish(authorization, with: url)
  }

  /// Returns the redirect that arrives first, at the listener or in the browser.
  private static func redirect(
    of authorization: OAuthAuthorization, in browser: any AuthorizationBrowser, to listener: LoopbackListener
  ) async throws -> String? {
    try await withThrowingTaskGroup(of: String?.self) { group in
      group.addTask { try await listener.arrival() }
      group.addTask { try await browser.open(authorization.page, redirect: authorization.redirect) }
      defer { group.cancelAll() }
      while let url = try await group.next() {
        if let url { return url }
      }
      return nil
    }
  }

  private static func first<Output: Sendable>(
    within limit: Duration, on clock: any MonotonicClock, _ work: @escaping @Sendable () async throws -> Output
  ) async throws -> Output {
    let deadline = clock.now.advanced(by: limit)
    return try await withThrowingTaskGroup(of: Output.self) { group in
      group.addTask { try await work() }
      group.addTask {
        try await clock.sleepUntilLimit(deadline)
        throw OAuthError(.authorization, .timedOut, "the user did not finish in time")
      }
      defer { group.cancelAll() }
      guard let output = try await group.next() else { throw CancellationError() }
      return output
    }
  }
}

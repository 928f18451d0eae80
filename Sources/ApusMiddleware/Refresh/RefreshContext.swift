public import ApusCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The input of a refresh: the credentials to replace, and access to the server.
public struct RefreshContext: Sendable {
  /// The credentials to replace.
  public let credential: Credential
  private let client: Client
  private let serverClock: ServerClock

  init(_ credential: Credential, _ client: Client, _ serverClock: ServerClock) {
    self.credential = credential
    self.client = client
    self.serverClock = serverClock
  }

  /// The refresh token, or the token itself if there is none.
  public var token: Secret {
    switch credential {
    case .tokens(let tokens): tokens.refresh ?? tokens.access
    case .token(let token), .password(_, let token): token
    }
  }

  /// Sends an endpoint with the client whose call needs the tokens, in that call's environment.
  ///
  /// The call carries none of the client's credentials and waits for no refresh. It follows no redirects, since its
  /// content is secret. ``CallRegistry/cancelAll()`` does not cancel it. The endpoint's own timeout applies in addition
  /// to the limit of the refresh.
  ///
  /// Where the transport supports it (`NIOTransport`), the call uses a new connection, so that a server that closes an
  /// idle connection at that moment does not lose a refresh token. If a server accepts the same refresh token twice,
  /// mark the endpoint with `.idempotent()`: the call is then also retried if there was no response.
  ///
  /// - Throws: the same errors as `send` of a client.
  public func send<E: Endpoint>(_ endpoint: E) async throws(CallError) -> E.Value {
    let asked = serverClock.clock.now
    let request = endpoint.credentials(.none).redirects(.none).setting(SharedWorkKey.self, true)
      .setting(NewConnectionKey.self, true)
    let response = try await client.response(to: request)
    if let date = ResponseMessage(head: response.head).date { serverClock.update(date, sentAt: asked) }
    return response.value
  }

  /// Returns the time until a date that the server sent, such as `expires_at` or a token's `exp`.
  ///
  /// It is measured by the server's clock, if its responses had a `Date` (RFC 9110 §6.6.1), since the device's clock
  /// may be wrong by hours. Negative for a date in the past; at most about a hundred years.
  public func time(until moment: Date) -> Duration {
    Duration(clampingSeconds: moment.timeIntervalSince(serverClock.now))
  }
}

extension RefreshContext {
  /// Requests new tokens from an OAuth 2.0 token endpoint (RFC 6749 §6): a form with `grant_type=refresh_token` and the
  /// refresh token.
  ///
  /// - Parameters:
  ///   - path: the path of the token endpoint, below the environment's base URL.
  ///   - parameters: further parameters, such as `client_id`. Default: none.
  /// - Throws: the same errors as `send` of a client; ``RefreshRejection`` if there is no refresh token.
  public func tokens(from path: RequestPath, adding parameters: Query = [:]) async throws -> Tokens {
    guard case .tokens(let old) = credential, let token = old.refresh else { throw RefreshRejection() }
    var form: Query = ["grant_type": "refresh_token", "refresh_token": token.value]
    form.append(parameters)
    return try await send(Request<Tokens>.post(path, content: .form(form)))
  }
}

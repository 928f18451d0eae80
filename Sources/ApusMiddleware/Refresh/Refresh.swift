public import ApusCore

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// What a refresh has to work with: the credentials that are to be replaced, and a way to the server.
public struct Refresh: Sendable {
  /// The credentials that are no good any more.
  public let credential: Credential
  private let client: Client
  private let serverClock: ServerClock

  init(_ credential: Credential, _ client: Client, _ serverClock: ServerClock) {
    self.credential = credential
    self.client = client
    self.serverClock = serverClock
  }

  /// What buys new tokens: the refresh token where there is one, else the token itself.
  public var token: Secret {
    switch credential {
    case .tokens(let tokens): tokens.refresh ?? tokens.access
    case .token(let token), .password(_, let token): token
    }
  }

  /// Sends an endpoint with the client whose call needs the tokens, in that call's environment.
  ///
  /// It carries no credentials of the client's and waits for no refresh: it is one. It follows no redirects, since its
  /// content is secret. What cancels many calls at once (``ApusCore/CallRegistry/cancelAll()``) leaves it alone. An own
  /// limit of the endpoint holds beside the refresh's.
  ///
  /// It goes out on a connection of its own where the transport can do that (`NIOTransport`), so that a server which closes
  /// an idle connection at that moment loses no refresh token. Where a server takes the same refresh token twice, mark
  /// the endpoint with `.idempotent()`: then it is also repeated where nothing was answered.
  ///
  /// - Throws: as `send` of a client.
  public func send<E: Endpoint>(_ endpoint: E) async throws(CallError) -> E.Value {
    let asked = serverClock.clock.now
    let request = endpoint.credentials(.none).redirects(.none).setting(SharedWorkKey.self, true)
      .setting(NewConnectionKey.self, true)
    let response = try await client.response(to: request)
    if let date = ResponseMessage(head: response.head).date { serverClock.told(date, askedAt: asked) }
    return response.value
  }

  /// How long it is until a moment of which the server spoke, such as `expires_at` or a token's `exp`.
  ///
  /// It is counted by the server's clock, as far as its answers told the time (RFC 9110 §6.6.1): the device's own may
  /// be wrong by hours. Negative: that moment is over. A moment that is in no calendar is a hundred years away.
  public func time(until moment: Date) -> Duration {
    Duration(clampingSeconds: moment.timeIntervalSince(serverClock.now))
  }
}

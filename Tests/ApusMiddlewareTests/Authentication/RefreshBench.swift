import ApusCore
import ApusMiddleware
import ApusTesting
import HTTPTypes
import Synchronization
import Testing

/// A client whose tokens are refreshed, and the server that issues them. The server accepts one access token at a time,
/// and each refresh token once.
final class RefreshBench: Sendable {
  private struct Server {
    var access = 1
    var refresh = 1
    var refreshes = 0
    /// The replies to the next refreshes.
    var replies: [StubReply] = []
    var rejections = 0
  }

  let stub = StubTransport()
  let clock = ManualClock(.manual)
  let tokens: MemoryCredentialsStore
  let events = Log<SessionEnd>()
  /// A gate that blocks the reply to a refresh until the test opens the gate.
  let gate: Gate?
  private let server = Mutex(Server())

  init(gate: Gate? = nil, lifetime: Duration? = nil) {
    self.gate = gate
    tokens = MemoryCredentialsStore(
      .tokens(Tokens(access: "access-1", refresh: "refresh-1", lifetime: lifetime)), clock: clock)
    let handler: StubTransport.Handler = { [self] exchange in
      guard exchange.target == "/v1/token" else { return reply(to: exchange) }
      let tokens = refresh(exchange, lifetime)
      return gate.map { tokens.waiting(for: $0) } ?? tokens
    }
    stub.on(where: { _, _ in true }, reply: handler)
  }

  /// The number of requests for new tokens.
  var refreshes: Int { server.withLock { $0.refreshes } }
  /// The exchanges of the app's calls, in order.
  var exchanges: [StubExchange] { stub.exchanges.filter { $0.target != "/v1/token" } }
  var authorizations: [String?] { exchanges.map { $0.fields[.authorization] } }

  /// Makes the server reject all access tokens until the next refresh.
  func expire() {
    server.withLock { $0.access = 0 }
  }

  /// Makes the server reject a number of the app's calls, whatever their credentials.
  func reject(_ count: Int) {
    server.withLock { $0.rejections = count }
  }

  /// Sets the replies to the next refreshes. The server's own tokens do not change.
  func replyToRefreshes(with replies: StubReply...) {
    server.withLock { $0.replies = replies }
  }

  private func reply(to exchange: StubExchange) -> StubReply {
    let (access, isRejected) = server.withLock { server in
      defer { server.rejections = max(0, server.rejections - 1) }
      return (server.access, server.rejections > 0)
    }
    let isKnown = !isRejected && exchange.fields[.authorization] == "Bearer access-\(access)"
    return isKnown ? .text("ok \(exchange.text)") : .json(#"{"message":"who are you?"}"#, status: 401)
  }

  private func refresh(_ exchange: StubExchange, _ lifetime: Duration?) -> StubReply {
    server.withLock { server in
      server.refreshes += 1
      if !server.replies.isEmpty { return server.replies.removeFirst() }
      guard exchange.text == "refresh_token=refresh-\(server.refresh)" else {
        return .json(#"{"error":"invalid_grant"}"#, status: 400)
      }
      server.refresh += 1
      server.access = server.refresh
      let seconds = lifetime.map { #","expires_in":\#($0.components.seconds)"# } ?? ""
      return .json(
        #"{"access_token":"access-\#(server.access)","refresh_token":"refresh-\#(server.refresh)"\#(seconds)}"#)
    }
  }

  func client(
    over store: (any RefreshableCredentialsStore)? = nil, limit: Duration = .seconds(30),
    refresh: @escaping @Sendable (RefreshContext) async throws -> Tokens = {
      try await $0.send(.newTokens(for: $0.token))
    }
  ) -> Client {
    client(with: .bearer(store ?? tokens, limit: limit, refresh: refresh))
  }

  func client(with authentication: Authentication) -> Client {
    var client = TestClient()
    client.environment.authentication = authentication
    client.settings.runtime = Runtime(clock: clock)
    client.onSessionEnd = events.add
    return client.over(stub)
  }
}

extension Endpoint where Self == Request<Tokens> {
  static func newTokens(for token: Secret) -> Self {
    .post("/token", content: .form(["refresh_token": token.value]))
  }
}

extension CallRegistry {
  /// Whether a number of calls wait for other credentials.
  func isWaitingForCredentials(_ count: Int) -> Bool {
    all.count { entry in
      entry.trace.events.contains { if case .awaitingCredentials = $0.kind { true } else { false } }
    } == count
  }
}

import ApusCore
import ApusMiddleware
import ApusTesting
import HTTPTypes
import Synchronization
import Testing

/// A client whose tokens are refreshed, and the server that gives them: it takes one access token at a time, and each
/// refresh token once.
final class RefreshBench: Sendable {
  private struct Server {
    var access = 1
    var refresh = 1
    var refreshes = 0
    var refused: [StubReply] = []
    var denials = 0
  }

  let stub = StubTransport()
  let clock = ManualClock(.manual)
  let tokens: MemoryCredentialsStore
  let events = Log<SessionEnd>()
  /// Held back by tests that want to see what happens during a refresh.
  let gate: Gate?
  private let server = Mutex(Server())

  init(gate: Gate? = nil, lifetime: Duration? = nil) {
    self.gate = gate
    tokens = MemoryCredentialsStore(
      .tokens(Tokens(access: "access-1", refresh: "refresh-1", lifetime: lifetime)), clock: clock)
    let answering: StubTransport.Handler = { [self] exchange in
      guard exchange.target == "/v1/token" else { return answer(to: exchange) }
      let given = refresh(exchange, lifetime)
      return gate.map { given.waiting(for: $0) } ?? given
    }
    stub.on(where: { _, _ in true }, reply: answering)
  }

  /// How often the server was asked for new tokens.
  var refreshes: Int { server.withLock { $0.refreshes } }
  /// Calls of the app, in order.
  var exchanges: [StubExchange] { stub.exchanges.filter { $0.target != "/v1/token" } }
  var authorizations: [String?] { exchanges.map { $0.fields[.authorization] } }

  /// The server rejects all access tokens until the next refresh.
  func expire() {
    server.withLock { $0.access = 0 }
  }

  /// The number of the app's calls that the server rejects, whatever their credentials.
  func deny(_ count: Int) {
    server.withLock { $0.denials = count }
  }

  /// The next refreshes are answered so, and change nothing.
  func refuse(_ answers: StubReply...) {
    server.withLock { $0.refused = answers }
  }

  private func answer(to exchange: StubExchange) -> StubReply {
    let (access, isDenied) = server.withLock { server in
      defer { server.denials = max(0, server.denials - 1) }
      return (server.access, server.denials > 0)
    }
    let isKnown = !isDenied && exchange.fields[.authorization] == "Bearer access-\(access)"
    return isKnown ? .text("ok \(exchange.text)") : .json(#"{"message":"who are you?"}"#, status: 401)
  }

  private func refresh(_ exchange: StubExchange, _ lifetime: Duration?) -> StubReply {
    server.withLock { server in
      server.refreshes += 1
      if !server.refused.isEmpty { return server.refused.removeFirst() }
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
    over source: (any RefreshableCredentialsStore)? = nil, limit: Duration = .seconds(30),
    refresh: @escaping @Sendable (RefreshContext) async throws -> Tokens = {
      try await $0.send(.newTokens(for: $0.token))
    }
  ) -> Client {
    client(with: .bearer(source ?? tokens, limit: limit, refresh: refresh))
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

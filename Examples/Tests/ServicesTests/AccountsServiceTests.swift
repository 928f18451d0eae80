import AccountsService
import Apus
import ApusTesting
import Testing

@Suite struct AccountsServiceTests {
  private let stub = StubTransport()
  private let tokens = MemoryCredentialsStore()
  private let accounts: LiveAccountsService

  init() {
    let tokens = tokens
    accounts = LiveAccountsService(
      client: Client(baseURL: "https://accounts.test", transport: stub) {
        $0.authentication = .accounts(tokens)
        // Retries have no delay.
        $0.retry = RetryPolicy(baseDelay: .zero)
      },
      credentials: tokens)
    stub.on(.post, "/sessions", reply: .json(#"{"access_token":"a1","refresh_token":"r1"}"#, status: 201))
    stub.on(.get, "/accounts/me", reply: .json(#"{"id":1,"name":"Ada","email":"ada@example.com"}"#))
    stub.on(.post, "/sessions/revoke", reply: .status(204))
  }

  private func authorizations(_ target: String) -> [String?] {
    stub.exchanges.filter { $0.target == target }.map { $0.field("Authorization") }
  }

  @Test("A sign-in sends no token, and the next call carries the new token")
  func signIn() async throws {
    tokens.set(token: "old")
    try await accounts.signIn(email: "ada@example.com", password: "correct horse")
    #expect(authorizations("/sessions") == [nil])
    // The order of the members is not defined.
    let sent = try #require(stub.exchanges.first?.text)
    #expect(
      [
        #"{"email":"ada@example.com","password":"correct horse"}"#,
        #"{"password":"correct horse","email":"ada@example.com"}"#,
      ].contains(sent))
    #expect(try await accounts.account().name == "Ada")
    #expect(authorizations("/accounts/me") == ["Bearer a1"])
  }

  @Test("After a failed sign-in no tokens are stored")
  func refusedSignIn() async throws {
    stub.on(.post, "/sessions", reply: .json(#"{"detail":"The password is wrong."}"#, status: 401))
    let error = await #expect(throws: CallError.self) { try await accounts.signIn(email: "a@b.cc", password: "x") }
    #expect(error?.errorDescription == "The password is wrong.")
    #expect(tokens.current().credential == nil)
  }

  @Test("A sign-in stores both tokens and the lifetime")
  func tokensKept() async throws {
    stub.on(
      .post, "/sessions",
      reply: .json(#"{"access_token":"a1","refresh_token":"r1","expires_in":1.5,"token_type":"Bearer"}"#, status: 201))
    try await accounts.signIn(email: "ada@example.com", password: "x")
    let expected = Tokens(access: "a1", refresh: "r1", lifetime: .milliseconds(1500))
    #expect(tokens.current().credential == .tokens(expected))
  }

  @Test("A sign-out sends only the refresh token and removes both tokens")
  func signOut() async throws {
    try await accounts.signIn(email: "ada@example.com", password: "x")
    try await accounts.signOut()
    #expect(authorizations("/sessions/revoke") == [nil])
    #expect(stub.exchanges.last?.text == #"{"refresh_token":"r1"}"#)
    _ = try await accounts.account()
    #expect(authorizations("/accounts/me") == [nil])
  }

  @Test("A sign-out removes the tokens even when the server cannot be reached")
  func signOutOffline() async throws {
    try await accounts.signIn(email: "ada@example.com", password: "x")
    stub.on(.post, "/sessions/revoke", reply: .failure(TransportError(.offline, requestState: .notSent)))
    let error = await #expect(throws: CallError.self) { try await accounts.signOut() }
    #expect(error?.code == .offline)
    #expect(tokens.current().credential == nil)
  }

  @Test("Sign-outs and refreshes are retried")
  func toldAgain() async throws {
    try await accounts.signIn(email: "ada@example.com", password: "x")
    stub.on(.get, "/accounts/me", replies: [.status(401), .json(#"{"id":1,"name":"Ada","email":"ada@example.com"}"#)])
    stub.on(
      .post, "/sessions/refresh", replies: [.status(502), .json(#"{"access_token":"a2","refresh_token":"r2"}"#)])
    #expect(try await accounts.account().name == "Ada")
    stub.on(.post, "/sessions/revoke", replies: [.status(503), .status(204)])
    try await accounts.signOut()
    #expect(authorizations("/sessions/refresh").count == 2)
    #expect(authorizations("/sessions/revoke").count == 2)
  }

  @Test("Sign-ins and sign-ups that may have arrived are not retried")
  func sentOnce() async throws {
    stub.onAny(reply: .failure(TransportError(.connectionLost, requestState: .maybeSent)))
    await #expect(throws: CallError.self) { try await accounts.signIn(email: "ada@example.com", password: "x") }
    let form = SignUpForm(name: "Ada", email: "ada@example.com", password: "correct horse")
    await #expect(throws: CallError.self) { try await accounts.signUp(form) }
    #expect(stub.exchanges.map(\.target) == ["/sessions", "/accounts"])
  }

  @Test("A second sign-out sends no request")
  func signOutTwice() async throws {
    try await accounts.signIn(email: "ada@example.com", password: "x")
    try await accounts.signOut()
    try await accounts.signOut()
    #expect(authorizations("/sessions/revoke").count == 1)
  }

  @Test("A rejected access token is refreshed, each time with the newest refresh token")
  func refresh() async throws {
    try await accounts.signIn(email: "ada@example.com", password: "x")
    let ada = StubReply.json(#"{"id":1,"name":"Ada","email":"ada@example.com"}"#)
    stub.on(.get, "/accounts/me", replies: [.status(401), ada, .status(401), ada])
    stub.on(
      .post, "/sessions/refresh",
      replies: [
        .json(#"{"access_token":"a2","refresh_token":"r2"}"#), .json(#"{"access_token":"a3","refresh_token":"r3"}"#),
      ])
    #expect(try await accounts.account().name == "Ada")
    #expect(try await accounts.account().name == "Ada")
    #expect(authorizations("/accounts/me") == ["Bearer a1", "Bearer a2", "Bearer a2", "Bearer a3"])
    #expect(authorizations("/sessions/refresh") == [nil, nil])
    #expect(
      stub.exchanges.filter { $0.target == "/sessions/refresh" }.map(\.text)
        == [#"{"refresh_token":"r1"}"#, #"{"refresh_token":"r2"}"#])
    #expect(tokens.current().credential == .tokens(Tokens(access: "a3", refresh: "r3")))
  }

  @Test("A sign-out does not wait for a refresh in flight, which does not sign the user in again")
  func refreshDuringSignOut() async throws {
    try await accounts.signIn(email: "ada@example.com", password: "x")
    let gate = Gate()
    stub.on(.get, "/accounts/me", reply: .status(401))
    stub.on(
      .post, "/sessions/refresh",
      reply: .json(#"{"access_token":"a2","refresh_token":"r2"}"#).waiting(for: gate))
    let accounts = accounts
    let call = Task { try await accounts.account() }
    try await gate.waitForArrivals(1)
    try await accounts.signOut()
    let error = await #expect(throws: CallError.self) { try await call.value }
    #expect(error?.status == 401)
    gate.open()
    try await stub.waitUntilIdle()
    #expect(tokens.current().credential == nil)
    #expect(stub.exchanges.last?.text == #"{"refresh_token":"r1"}"#)
  }

  @Test("The printed form does not contain the password")
  func secrets() {
    let form = SignUpForm(name: "Ada", email: "ada@example.com", password: "correct horse")
    var text = ""
    dump(form, to: &text)
    #expect(!text.contains("horse"))
    #expect(!"\(form)".contains("horse"))
  }
}

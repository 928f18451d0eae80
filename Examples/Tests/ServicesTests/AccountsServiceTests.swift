import AccountsService
import Apus
import ApusTesting
import Testing

@Suite struct AccountsServiceTests {
  private let stub = StubTransport()
  private let tokens = MemoryCredentials()
  private let accounts: LiveAccountsService

  init() {
    let tokens = tokens
    accounts = LiveAccountsService(
      client: Client(baseURL: "https://accounts.test", transport: stub) { $0.authentication = .bearer(tokens) },
      credentials: tokens)
    stub.on(.post, "/sessions", answer: .json(#"{"access_token":"a1","refresh_token":"r1"}"#, status: 201))
    stub.on(.get, "/accounts/me", answer: .json(#"{"id":1,"name":"Ada","email":"ada@example.com"}"#))
    stub.on(.delete, "/sessions", answer: .status(204))
  }

  private func authorizations(_ target: String) -> [String?] {
    stub.exchanges.filter { $0.target == target }.map { $0.fields[.authorization] }
  }

  @Test("signing in sends no token and makes the next call carry one")
  func signIn() async throws {
    tokens.set(token: "old")
    try await accounts.signIn(email: "ada@example.com", password: "correct horse")
    #expect(authorizations("/sessions") == [nil])
    // The order of the members is nobody's promise.
    let sent = try #require(stub.exchanges.first?.text)
    #expect(
      [
        #"{"email":"ada@example.com","password":"correct horse"}"#,
        #"{"password":"correct horse","email":"ada@example.com"}"#,
      ].contains(sent))
    #expect(try await accounts.account().name == "Ada")
    #expect(authorizations("/accounts/me") == ["Bearer a1"])
  }

  @Test("a sign-in that fails leaves nobody signed in")
  func refusedSignIn() async throws {
    stub.on(.post, "/sessions", answer: .json(#"{"detail":"The password is wrong."}"#, status: 401))
    let error = await #expect(throws: CallError.self) { try await accounts.signIn(email: "a@b.cc", password: "x") }
    #expect(error?.errorDescription == "The password is wrong.")
    #expect(tokens.current().credential == nil)
  }

  @Test("signing out tells the server with the token, which is then gone")
  func signOut() async throws {
    try await accounts.signIn(email: "ada@example.com", password: "x")
    try await accounts.signOut()
    #expect(stub.exchanges.last?.fields[.authorization] == "Bearer a1")
    _ = try await accounts.account()
    #expect(authorizations("/accounts/me") == [nil])
  }

  @Test("signing out works here when the server cannot be told")
  func signOutOffline() async throws {
    try await accounts.signIn(email: "ada@example.com", password: "x")
    stub.on(.delete, "/sessions", answer: .failure(TransportError(.offline, requestState: .notSent)))
    let error = await #expect(throws: CallError.self) { try await accounts.signOut() }
    #expect(error?.code == .offline)
    #expect(tokens.current().credential == nil)
    #expect(try await accounts.refresh() == false)
  }

  @Test("renewing sends the refresh token once and keeps both new ones")
  func refresh() async throws {
    try await accounts.signIn(email: "ada@example.com", password: "x")
    stub.on(
      .post, "/sessions/refresh",
      answers: [
        .json(#"{"access_token":"a2","refresh_token":"r2"}"#), .json(#"{"access_token":"a3","refresh_token":"r3"}"#),
      ])
    #expect(try await accounts.refresh())
    #expect(try await accounts.refresh())
    _ = try await accounts.account()
    #expect(authorizations("/sessions/refresh") == [nil, nil])
    #expect(
      stub.exchanges.filter { $0.target == "/sessions/refresh" }.map(\.text)
        == [#"{"refresh_token":"r1"}"#, #"{"refresh_token":"r2"}"#])
    #expect(authorizations("/accounts/me") == ["Bearer a3"])
  }

  @Test("nobody is signed in again by a renewal that was under way at sign-out")
  func refreshDuringSignOut() async throws {
    try await accounts.signIn(email: "ada@example.com", password: "x")
    let gate = Gate()
    stub.on(
      .post, "/sessions/refresh",
      answer: .json(#"{"access_token":"a2","refresh_token":"r2"}"#).waiting(for: gate))
    async let isRenewed = accounts.refresh()
    try await gate.waitForArrivals(1)
    try await accounts.signOut()
    gate.open()
    #expect(try await isRenewed == false)
    #expect(tokens.current().credential == nil)
  }

  @Test("a password is in no text of the form")
  func secrets() {
    let form = SignUpForm(name: "Ada", email: "ada@example.com", password: "correct horse")
    var text = ""
    dump(form, to: &text)
    #expect(!text.contains("horse"))
    #expect(!"\(form)".contains("horse"))
  }
}

import AccountsService
import Apus
import ApusTesting
import Backend
import FriendsService
import Testing

/// Tokens that expire while calls are made, on a real server and with the platform's transport.
@Suite struct RefreshTests {
  private static let lifetime = Duration.seconds(60)
  private static let path = "/friends/categories"
  private static let refresh = "POST /sessions/refresh"

  private let time = ServerTime()
  private let clock = ManualClock(.manual)

  private func options(_ change: (inout Backend.Options) -> Void = { _ in }) -> Backend.Options {
    .testing { options in
      options.tokenLifetime = Self.lifetime
      options.now = { [time] in time.now }
      change(&options)
    }
  }

  /// Expires all access tokens, for the server and for apps that received the lifetime.
  private func expire() {
    time.advance(by: Self.lifetime)
    clock.advance(by: Self.lifetime)
  }

  /// Makes concurrent calls, all of which must succeed.
  private func load(_ count: Int, from services: any FriendsService...) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for index in 0..<count {
        let friends = services[index % services.count]
        group.addTask { _ = try await friends.categories() }
      }
      try await group.waitForAll()
    }
  }

  @Test(
    "Two hundred concurrent calls with an expired token make one refresh, and all succeed",
    arguments: [false, true])
  func storm(isLifetimeKnown: Bool) async throws {
    let (calls, rounds) = (200, 3)
    try await withSite(options { $0.sendsTokenLifetime = isLifetimeKnown }, clock: clock) { site in
      try await site.signIn()
      for round in 1...rounds {
        expire()
        try await load(calls, from: site.friends)
        #expect(site.refreshes.count == round)
      }
      #expect(site.refreshes.allSatisfy { $0.status == 200 && $0.credential == nil })
      let rows = site.backend.log.rows { $0.path == Self.path }
      #expect(rows.count { $0.status == 200 } == calls * rounds)
      // An app that received the lifetime never sends an expired token; other apps send it with their first calls.
      let refused = rows.count { $0.status == 401 }
      #expect((refused == 0) == isLifetimeKnown)
      #expect(Set(rows.map(\.credential)).count == (isLifetimeKnown ? rounds : rounds + 1))
      #expect(site.events.all.isEmpty)
    }
  }

  @Test("Two clients that share an authentication make one refresh")
  func twoClients() async throws {
    try await withSite(options()) { site in
      try await site.signIn()
      let other = Client(baseURL: site.client.environment.baseURL) {
        $0.authentication = site.authentication
        $0.timeout = .seconds(300)
        $0.attemptTimeout = nil
      }
      for round in 1...3 {
        expire()
        try await load(50, from: site.friends, LiveFriendsService(client: other))
        #expect(site.refreshes.map(\.status) == Array(repeating: 200, count: round))
      }
    }
  }

  @Test("A sign-out during a refresh is final, even if new tokens arrive later")
  func signOut() async throws {
    let options = options()
    try await withSite(options) { site in
      try await site.signIn()
      expire()
      options.held.hold(Self.refresh)
      let friends = site.friends
      let call = Task { try await friends.categories() }
      await options.held.waitForResponses(1)
      try await site.accounts.signOut()
      let error = await #expect(throws: CallError.self) { try await call.value }
      #expect(error?.status == 401)
      options.held.release()
      try await wait { site.client.calls.isEmpty }
      for _ in 0..<3 {
        let later = await #expect(throws: CallError.self) { try await friends.categories() }
        #expect(later?.status == 401)
      }
      #expect(site.tokens.current().credential == nil)
      let credentials = site.backend.log.rows { $0.path == Self.path }.map(\.credential)
      #expect(credentials.dropFirst() == [nil, nil, nil])
      #expect(site.refreshes.count == 1)
    }
  }

  @Test("When the server rejects a refresh, all calls fail with the same error and the app is notified once")
  func refused() async throws {
    let options = options()
    try await withSite(options) { site in
      try await site.signIn()
      try await signOutElsewhere(site)
      options.held.hold(Self.refresh)
      let friends = site.friends
      let calls = (0..<20).map { _ in Task { try await friends.categories() } }
      // All calls wait before the refresh ends.
      try await wait { site.client.calls.all.count(where: isWaiting) >= 20 }
      await options.held.waitForResponses(1)
      options.held.release()
      var sentences: [String] = []
      for call in calls {
        let error = await #expect(throws: CallError.self) { try await call.value }
        sentences.append(error?.message ?? "none")
      }
      #expect(sentences == Array(repeating: "You need to sign in to do this.", count: 20))
      #expect(site.events.all.map(\.reason) == [.expired])
      #expect(site.tokens.current().credential == nil)
      #expect(site.refreshes.map(\.status) == [400])
      // After a new sign-in, calls succeed again.
      try await site.accounts.signIn(email: "ada@example.com", password: "correct horse")
      try await load(1, from: friends)
    }
  }

  @Test("An app that quit before it stored new tokens continues with the old tokens")
  func lost() async throws {
    try await withSite(options()) { site in
      try await site.signIn()
      guard case .tokens(let tokens)? = site.tokens.current().credential, let token = tokens.refresh else {
        Issue.record("no tokens are stored")
        return
      }
      let refresh = Request<Tokens>.post("/sessions/refresh", content: .json(["refresh_token": token.value]))
      _ = try await site.client.send(refresh.credentials(.none))
      expire()
      try await load(10, from: site.friends)
      #expect(site.refreshes.map(\.status) == [200, 200])
      #expect(site.events.all.isEmpty)
    }
  }

  @Test("A refresh whose response is lost is retried with the old token, and no call fails")
  func lostAnswer() async throws {
    let options = options()
    try await withSite(options) { site in
      try await site.signIn()
      expire()
      options.lost.lose(Self.refresh)
      try await load(10, from: site.friends)
      #expect(site.refreshes.map(\.status) == [502, 200])
      #expect(site.events.all.isEmpty)
    }
  }

  /// Ends the session from another device. The app learns this only from the server's responses.
  private func signOutElsewhere(_ site: Site) async throws {
    let tokens = MemoryCredentialsStore(site.tokens.current().credential)
    let client = Client(baseURL: site.client.environment.baseURL) { $0.authentication = .accounts(tokens) }
    try await LiveAccountsService(client: client, credentials: tokens).signOut()
  }

  /// Whether a call waits for another token.
  private func isWaiting(_ call: CallEntry) -> Bool {
    call.trace.events.contains { event in
      if case .awaitingCredentials = event.kind { true } else { false }
    }
  }
}

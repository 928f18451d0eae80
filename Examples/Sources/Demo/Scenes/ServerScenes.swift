import AccountsService
import AnalyticsService
import Apus
import FriendsService
import Logging
import NewsService

/// A client that is switched from staging to production while its calls are in flight.
struct SwitchServersScene: Scene {
  let title = "From staging to production while calls are in flight"

  private static let call = "GET /friends/categories"

  func play(in world: World) async throws -> [Claim] {
    let stage = world.stage
    try await signUp(on: world.production, world.user)
    let friends = world.friends
    let position = try await world.staging.log.position()
    try await withThrowingTaskGroup { group in
      for _ in 1...3 { group.addTask { _ = try await friends.categories() } }
      try await world.staging.log.waitForArrivals(3, of: Self.call, since: position)
      stage.say("3 calls are in flight to \(world.app.environment.name) …")
      world.app.use(world.production.client.environment)
      stage.say("… the client is switched to \(world.app.environment.name): 3 more calls …")
      for _ in 1...3 { group.addTask { _ = try await friends.categories() } }
      try await group.waitForAll()
    }
    world.app.use(world.staging.client.environment)
    stage.say("… all 6 succeed, each on the server where it started. Back to \(world.app.environment.name).")
    return [world.staging, world.production].flatMap { server in
      [
        Claim(name: "switch-\(server.name)", server: server, subject: Self.call, expected: "200 ×3"),
        Claim(
          name: "tokens-\(server.name)", server: server, subject: Self.call, expected: server.fingerprint,
          summary: Claim.credentials),
      ]
    }
  }

  private func signUp(on server: Server, _ user: World.User) async throws {
    let accounts = LiveAccountsService(client: server.client, credentials: server.tokens)
    _ = try await accounts.signUp(SignUpForm(name: user.name, email: user.email, password: user.password))
    try await accounts.signIn(email: user.email, password: user.password)
  }
}

/// One server for accounts and another for analytics: neither receives the other's credentials, not even by a redirect.
struct SeparateCredentialsScene: Scene {
  let title = "Two servers, accounts and analytics: credentials never cross"

  func play(in world: World) async throws -> [Claim] {
    let (stage, accounts, analytics) = (world.stage, world.staging, world.analytics)
    let tracking = LiveAnalyticsService(baseURL: try analytics.url(), key: Secret(analytics.apiKey))
    async let account = world.accounts.account()
    async let tracked: Void = tracking.track(AnalyticsEvent(name: "opened-account"))
    let name = try await account.name
    try await tracked
    stage.say("Two concurrent calls: the account of \(name), with her token, and an event, with the app's key.")
    try await accounts.client.send(.redirected(to: "\(analytics.address)/"))
    stage.say("The accounts server redirects a call to the analytics server: the token is not sent there.")
    return [
      Claim(
        name: "accounts-token", server: accounts, subject: "GET /accounts/me", expected: accounts.fingerprint,
        summary: Claim.credentials),
      Claim(
        name: "analytics-key", server: analytics, subject: "POST /events", expected: analytics.keyFingerprint,
        summary: Claim.credentials),
      Claim(name: "redirect", server: accounts, subject: "GET /faults/redirect", expected: "302"),
      Claim(
        name: "redirect-credentials", server: analytics, subject: "GET /", expected: "none",
        summary: Claim.credentials),
    ]
  }
}

/// The request log: a line when a request is sent, a line when its call ends, and content with secrets masked.
struct RequestLogScene: Scene {
  let title = "The request log: every call, no secrets"

  func play(in world: World) async throws -> [Claim] {
    let (stage, server, user) = (world.stage, world.staging, world.user)
    let journal = Journal()
    let logger = Logger(label: "demo") { _ in
      LineLog { line in
        journal.add(line)
        stage.note(line)
      }
    }
    let tokens = MemoryCredentialsStore()
    let client = try Client(baseURL: server.url()) {
      $0.apply(.app)
      $0.authentication = .accounts(tokens)
      $0.logging = RequestLogging(logger)
      $0.customizePipeline = { $0.insert(ContentLoggingMiddleware(logger), .before(.transport)) }
    }
    let accounts = LiveAccountsService(client: client, credentials: tokens)
    try await accounts.signIn(email: user.email, password: user.password)
    let secrets = [user.password] + Self.secrets(of: tokens.current().credential)
    try await failure(.rejected) { try await LiveFriendsService(client: client).remove(999_999) }
    try await accounts.signOut()
    let lines = journal.entries
    let isExposed = secrets.contains { secret in lines.contains { $0.contains(secret.value) } }
    return [
      Claim(name: "logged-calls", server: server, subject: "DELETE /friends/999999", expected: "404"),
      .app(
        "request-log", "lines in the request log", expected: "3 requests, 2 responses, 1 failure",
        shown: Self.counts(lines)),
      .app("log-secrets", "a password or token in the log", expected: "no", shown: isExposed ? "yes" : "no"),
    ]
  }

  private static func secrets(of credential: Credential?) -> [Secret] {
    guard case .tokens(let tokens)? = credential else { return [] }
    return [tokens.access, tokens.refresh].compactMap(\.self)
  }

  private static func counts(_ lines: [String]) -> String {
    func count(_ text: String) -> Int { lines.count { $0.contains(" \(text): ") } }
    return "\(count("request")) requests, \(count("response")) responses, \(count("failed")) failure"
  }
}

/// News in the envelope `{code, message, data}`, and a call that is rejected because its id is in use.
struct NewsScene: Scene {
  let title = "News: the envelope {code, message, data}, and a duplicate id"

  private static let call = "GET /news"

  func play(in world: World) async throws -> [Claim] {
    let (stage, server) = (world.stage, world.staging)
    let news = LiveNewsService(baseURL: try server.url()) { $0.apply(.app) }
    let position = try await server.log.position()
    stage.say("tap: headlines; and again, while the call is in flight:")
    async let first = news.headlines()
    try await server.log.waitForArrivals(1, of: Self.call, since: position)
    let refused = try await showFailure(.refused, on: stage) { try await news.headlines() }
    let headlines = try await first
    stage.say("The first call returns \(headlines.count) headlines out of the envelope's data:")
    for headline in headlines { stage.say("  \(headline.id)  \(headline.title)") }
    let again = try await news.headlines()
    let article = try await news.article(again.first?.id ?? 0)
    stage.say("The id is free again. “\(article.title)”: \(article.text)")
    let error = try await showFailure(.rejected, on: stage) { try await news.article(99) }
    stage.note("the envelope's code is \(error.rejection?.code ?? "none"), although the status is 200")
    return [
      Claim(name: "headlines", server: server, subject: Self.call, expected: "200 ×2"),
      Claim(name: "articles", server: server, subject: "GET /news/*", expected: "200 ×2"),
      .app(
        "duplicate-id", "the second call with the same id", expected: "notSent",
        shown: "\(refused.requestState)"),
      .app(
        "envelope", "code and message of the rejection", expected: "1404 There is no such article.",
        shown: "\(error.rejection?.code ?? "") \(error.rejection?.message ?? "")"),
    ]
  }
}

import AccountsService
import Apus
import Backend
import FriendsService
import MoviesService

/// A backend and the services that talk to it.
struct Site: Sendable {
  let backend: Backend
  let tokens: MemoryCredentials
  let authentication: Authentication
  let client: Client
  let accounts: any AccountsService
  let friends: any FriendsService
  let movies: any MoviesService
  /// What the app was told of sessions that are over.
  let events = Events()

  /// - Parameter clock: what the app tells the age of its tokens by.
  init(_ backend: Backend, clock: any MonotonicClock = SystemClock()) throws {
    let tokens = MemoryCredentials(clock: clock)
    let events = events
    let authentication = Authentication.accounts(tokens)
    self.backend = backend
    self.tokens = tokens
    self.authentication = authentication
    client = Client(baseURL: try BaseURL(backend.baseURL)) {
      $0.environment.name = backend.name
      $0.authentication = authentication
      $0.onSessionEnd = { events.add($0) }
      // Hundreds of calls at once on a small machine may take long.
      $0.timeout = .seconds(300)
      $0.attemptTimeout = nil
      // What is tried again is tried again at once: tests wait for nothing.
      $0.retry = RetryPolicy(base: .zero)
    }
    accounts = LiveAccountsService(client: client, credentials: tokens)
    friends = LiveFriendsService(client: client)
    movies = try Self.movies(of: backend)
  }

  /// A backend's films and posters.
  ///
  /// - Parameter scheduler: gives both their places. Default: each has one of its own.
  static func movies(of backend: Backend, _ scheduler: Scheduler? = nil) throws -> LiveMoviesService {
    let key = MemoryCredentials(token: "demo-key")
    let films = try Client(baseURL: BaseURL(backend.baseURL + "/3")) {
      $0.authentication = .apiKey(key, queryParameter: "api_key")
      if let scheduler { $0.scheduler = scheduler }
    }
    let images = try Client(baseURL: BaseURL(backend.baseURL + "/t/p")) {
      if let scheduler { $0.scheduler = scheduler }
    }
    return LiveMoviesService(client: films, images: images)
  }

  /// Signs somebody up and in.
  func signIn(email: String = "ada@example.com") async throws {
    let form = SignUpForm(name: "Ada", email: email, password: "correct horse")
    guard case .accepted = try await accounts.signUp(form) else { throw NotSignedUp() }
    try await accounts.signIn(email: email, password: "correct horse")
  }

  /// What the log shows of the access token.
  var fingerprint: String? {
    guard case .tokens(let tokens)? = tokens.current().credential else { return nil }
    return "bearer:\(Backend.fingerprint(of: tokens.access.value))"
  }

  /// What the server was asked for new tokens.
  var refreshes: [LoggedExchange] { backend.log.rows { $0.path == "/sessions/refresh" } }

  struct NotSignedUp: Error {}
}

/// Runs a test against a backend of its own.
///
/// - Parameter clock: what the app tells the age of its tokens by.
func withSite(
  _ options: Backend.Options = .testing(), clock: any MonotonicClock = SystemClock(),
  _ test: (Site) async throws -> Void
) async throws {
  let backend = try await Backend.start(options)
  do {
    try await test(try Site(backend, clock: clock))
  } catch {
    await backend.stop()
    throw error
  }
  await backend.stop()
}

extension Backend.Options {
  /// A free port and cheap passwords.
  static func testing(_ change: (inout Backend.Options) -> Void = { _ in }) -> Backend.Options {
    var options = Backend.Options()
    options.passwordHashRounds = 2
    change(&options)
    return options
  }
}

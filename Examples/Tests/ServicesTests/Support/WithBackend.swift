import AccountsService
import Apus
import Backend
import FriendsService
import MoviesService

/// A backend and the services that call it.
struct Site: Sendable {
  let backend: Backend
  let tokens: MemoryCredentialsStore
  let authentication: Authentication
  let client: Client
  let accounts: any AccountsService
  let friends: any FriendsService
  let movies: any MoviesService
  /// The ends of sessions that were reported to the app.
  let events = Events()

  /// - Parameter clock: measures the age of the app's tokens.
  init(_ backend: Backend, clock: any MonotonicClock = SystemClock()) throws {
    let tokens = MemoryCredentialsStore(clock: clock)
    let events = events
    let authentication = Authentication.accounts(tokens)
    self.backend = backend
    self.tokens = tokens
    self.authentication = authentication
    client = Client(baseURL: try BaseURL(backend.baseURL)) {
      $0.environment.name = backend.name
      $0.authentication = authentication
      $0.onSessionEnd = { events.add($0) }
      // Hundreds of concurrent calls may take a long time on a small machine.
      $0.timeout = .seconds(300)
      $0.attemptTimeout = nil
      // Retries have no delay.
      $0.retry = RetryPolicy(baseDelay: .zero)
    }
    accounts = LiveAccountsService(client: client, credentials: tokens)
    friends = LiveFriendsService(client: client)
    movies = try Self.movies(of: backend)
  }

  /// Returns the movies and posters of a backend.
  ///
  /// - Parameter scheduler: shared by both clients. Default: `nil`, a separate scheduler for each client.
  static func movies(of backend: Backend, _ scheduler: Scheduler? = nil) throws -> LiveMoviesService {
    let films = try Client(baseURL: BaseURL(backend.baseURL + "/3")) {
      $0.authentication = .apiKey("demo-key", queryParameter: "api_key")
      if let scheduler { $0.scheduler = scheduler }
    }
    let images = try Client(baseURL: BaseURL(backend.baseURL + "/t/p")) {
      if let scheduler { $0.scheduler = scheduler }
    }
    return LiveMoviesService(client: films, images: images)
  }

  /// Signs a user up and in.
  func signIn(email: String = "ada@example.com") async throws {
    let form = SignUpForm(name: "Ada", email: email, password: "correct horse")
    guard case .accepted = try await accounts.signUp(form) else { throw NotSignedUp() }
    try await accounts.signIn(email: email, password: "correct horse")
  }

  /// The access token's fingerprint in the log.
  var fingerprint: String? {
    guard case .tokens(let tokens)? = tokens.current().credential else { return nil }
    return "bearer:\(Backend.fingerprint(of: tokens.access.value))"
  }

  /// The rows of refreshes.
  var refreshes: [LoggedExchange] { backend.log.rows { $0.path == "/sessions/refresh" } }

  struct NotSignedUp: Error {}
}

/// Runs a test with a new backend.
///
/// - Parameter clock: measures the age of the app's tokens.
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
  /// Returns options with a free port and fast password hashing.
  static func testing(_ change: (inout Backend.Options) -> Void = { _ in }) -> Backend.Options {
    var options = Backend.Options()
    options.passwordHashRounds = 2
    change(&options)
    return options
  }
}

/// A condition that did not become true within a minute.
struct TimedOut: Error {}

/// Waits until a condition is true.
///
/// - Throws: ``TimedOut`` after a minute.
func wait(until isReached: () -> Bool) async throws {
  for _ in 0..<12_000 {
    if isReached() { return }
    try await Task.sleep(for: .milliseconds(5))
  }
  throw TimedOut()
}

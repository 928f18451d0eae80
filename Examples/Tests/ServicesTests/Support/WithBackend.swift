import AccountsService
import Apus
import Backend
import FriendsService
import MoviesService

/// A backend and the services that talk to it.
struct Site: Sendable {
  let backend: Backend
  let tokens = MemoryCredentials()
  let client: Client
  let accounts: any AccountsService
  let friends: any FriendsService
  let movies: any MoviesService

  init(_ backend: Backend) throws {
    let tokens = tokens
    self.backend = backend
    client = Client(baseURL: try BaseURL(backend.baseURL)) {
      $0.environment.name = backend.name
      $0.authentication = .bearer(tokens)
    }
    accounts = LiveAccountsService(client: client, credentials: tokens)
    friends = LiveFriendsService(client: client)
    let key = MemoryCredentials(token: "demo-key")
    movies = LiveMoviesService(
      client: Client(baseURL: try BaseURL(backend.baseURL + "/3")) {
        $0.authentication = .apiKey(key, queryParameter: "api_key")
      })
  }

  /// Signs somebody up and in.
  func signIn(email: String = "ada@example.com") async throws {
    let form = SignUpForm(name: "Ada", email: email, password: "correct horse")
    guard case .accepted = try await accounts.signUp(form) else { throw NotSignedUp() }
    try await accounts.signIn(email: email, password: "correct horse")
  }

  /// What the log shows of the token.
  var fingerprint: String? {
    guard case .token(let token)? = tokens.current().credential else { return nil }
    return "bearer:\(Backend.fingerprint(of: token.value))"
  }

  struct NotSignedUp: Error {}
}

/// Runs a test against a backend of its own.
func withSite(
  latency: Duration = .zero, friends: Int = 40, tokenLifetime: Duration = .seconds(3600),
  _ test: (Site) async throws -> Void
) async throws {
  var options = Backend.Options()
  options.passwordHashRounds = 2
  options.latency = latency
  options.friendsPerAccount = friends
  options.tokenLifetime = tokenLifetime
  let backend = try await Backend.start(options)
  do {
    try await test(try Site(backend))
  } catch {
    await backend.stop()
    throw error
  }
  await backend.stop()
}

import AccountsService
import Apus
import Backend
import FriendsService
import MoviesService

/// The servers and the three apps.
struct World: Sendable {
  let stage: Stage
  /// Where the apps begin.
  let staging: Server
  /// Where they are switched to.
  let production: Server
  /// A server whose tokens live three seconds, whose time can leap ahead, and that goes down.
  let fleeting: Server
  let clock: LeapClock
  /// Holds answers of the fleeting server back.
  let held: HeldAnswers
  /// The one client of the friends app; it is switched between servers.
  let app: Client
  let accounts: any AccountsService
  let friends: any FriendsService
  let movies: any MoviesService
  /// Who signs up: new each time, since a server that runs on remembers.
  let person: Person
  private let backends: [Backend]

  struct Person: Sendable {
    let name = "Ada"
    let email: String
    let password: Secret = "correct horse"
  }

  var servers: [Server] { [staging, production, fleeting] }

  init(_ options: DemoOptions, stage: Stage) async throws {
    let (clock, held) = (LeapClock(), HeldAnswers())
    var backends: [Backend] = []
    var servers: [Server] = []
    for (name, address) in [("staging", options.stagingURL), ("production", options.productionURL), ("fleeting", nil)] {
      if let address {
        servers.append(try await Server.running(name, at: address))
      } else {
        let backend = try await Backend.start(Self.settings(name, options, clock, held))
        backends.append(backend)
        servers.append(
          Server(name, at: try BaseURL(backend.baseURL), log: InProcessLog(log: backend.log)))
      }
    }
    self.stage = stage
    (self.clock, self.held) = (clock, held)
    self.backends = backends
    (staging, production, fleeting) = (servers[0], servers[1], servers[2])
    app = try Client(baseURL: BaseURL("\(staging.client.environment.baseURL)"))
    app.use(staging.client.environment)
    accounts = LiveAccountsService(client: staging.client, credentials: staging.tokens)
    friends = LiveFriendsService(client: app)
    let key = MemoryCredentials(token: options.apiKey)
    movies = LiveMoviesService(
      client: try Client(baseURL: BaseURL("\(staging.client.environment.baseURL)/3")) {
        $0.authentication = .apiKey(key, queryParameter: "api_key")
      })
    person = Person(email: "ada.\(UInt32.random(in: 0 ... .max))@example.com")
  }

  /// How long an access token of the fleeting server is good for.
  static let tokenLifetime = Duration.seconds(3)

  /// Only the fleeting server's tokens are short-lived, and only its answers are held.
  private static func settings(
    _ name: String, _ options: DemoOptions, _ clock: LeapClock, _ held: HeldAnswers
  ) -> Backend.Options {
    var settings = Backend.Options()
    settings.name = name
    settings.apiKey = options.apiKey
    settings.latency = options.latency
    settings.passwordHashRounds = options.passwordHashRounds
    if name == "fleeting" {
      settings.tokenLifetime = tokenLifetime
      settings.now = { clock.now }
      settings.held = held
    }
    return settings
  }

  /// Takes the fleeting server down.
  func stopFleeting() async {
    await backends.last?.stop()
  }

  /// Takes down every server of this process.
  func stop() async {
    for backend in backends { await backend.stop() }
  }
}

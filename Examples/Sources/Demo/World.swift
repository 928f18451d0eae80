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
  /// A server whose tokens live three seconds, with which there is mischief, and that goes down.
  let fleeting: Server
  private let mischief: Mischief
  /// The one client of the friends app; it is switched between servers.
  let app: Client
  let accounts: any AccountsService
  let friends: any FriendsService
  let movies: any MoviesService
  /// The key for films.
  let apiKey: String
  /// Who signs up: new each time, since a server that runs on remembers.
  let person: Person
  private let backends: [Backend]

  struct Person: Sendable {
    let name = "Ada"
    let email: String
    let password: Secret = "correct horse"
  }

  var servers: [Server] { [staging, production, fleeting] }
  /// The fleeting server's time.
  var clock: LeapClock { mischief.clock }
  /// Holds answers of the fleeting server back.
  var held: HeldAnswers { mischief.held }
  /// Loses answers of the fleeting server.
  var lost: LostAnswers { mischief.lost }

  init(_ options: DemoOptions, stage: Stage) async throws {
    let mischief = Mischief()
    var backends: [Backend] = []
    var servers: [Server] = []
    for (name, address) in [("staging", options.stagingURL), ("production", options.productionURL), ("fleeting", nil)] {
      if let address {
        servers.append(try await Server.running(name, at: address))
      } else {
        let backend = try await Backend.start(Self.settings(name, options, mischief))
        backends.append(backend)
        servers.append(
          Server(name, at: try BaseURL(backend.baseURL), log: InProcessLog(log: backend.log)))
      }
    }
    self.stage = stage
    self.mischief = mischief
    self.backends = backends
    (staging, production, fleeting) = (servers[0], servers[1], servers[2])
    app = try Client(baseURL: staging.url()) { $0.suit(.app) }
    app.use(staging.client.environment)
    accounts = LiveAccountsService(client: staging.client, credentials: staging.tokens)
    friends = LiveFriendsService(client: app)
    apiKey = options.apiKey
    let key = MemoryCredentials(token: apiKey)
    movies = LiveMoviesService(
      client: try Client(baseURL: staging.url("/3")) {
        $0.suit(.app)
        $0.authentication = .apiKey(key, queryParameter: "api_key")
      })
    person = Person(email: "ada.\(UInt32.random(in: 0 ... .max))@example.com")
  }

  /// How long an access token of the fleeting server is good for.
  static let tokenLifetime = Duration.seconds(3)

  /// Only the fleeting server's tokens are short-lived, and only with it there is mischief.
  private static func settings(_ name: String, _ options: DemoOptions, _ mischief: Mischief) -> Backend.Options {
    var settings = Backend.Options()
    settings.name = name
    settings.apiKey = options.apiKey
    settings.latency = options.latency
    settings.passwordHashRounds = options.passwordHashRounds
    if name == "fleeting" {
      settings.tokenLifetime = tokenLifetime
      settings.now = { mischief.clock.now }
      settings.held = mischief.held
      settings.lost = mischief.lost
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

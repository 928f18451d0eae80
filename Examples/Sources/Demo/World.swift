import AccountsService
import Apus
import Backend
import Foundation
import FriendsService
import MoviesService
import Synchronization

/// The servers and the apps.
struct World: Sendable {
  let stage: Stage
  /// A server with test data for the movies app.
  let qa: Server
  /// The server that the apps use initially.
  let staging: Server
  /// The server that the apps are switched to.
  let production: Server
  /// A server for analytics only.
  let analytics: Server
  /// A server for images only, which shares the avatars of the unstable server.
  let cdn: Server
  /// A server with access tokens that expire after three seconds, and with faults and outages.
  let unstable: Server
  /// A server with an authorization server: users sign in with a browser.
  let identity: Server
  /// The clock of the identity server.
  let identityClock: AdvancingClock
  /// The files of the app that is signed in at the identity server.
  let browserAppFolder: TemporaryFolder
  /// A third-party server with the API of S3; `nil` if it is not installed.
  let bucketServer: BucketServer?
  /// Whether third-party servers must be installed.
  let requiresServers: Bool
  /// The controls for the unstable server's faults.
  let faults: FaultControls
  /// The client of the friends app; it is switched between servers.
  let app: Client
  let accounts: any AccountsService
  let friends: any FriendsService
  let movies: any MoviesService
  /// The user who signs up; new each time, because running backends keep their accounts.
  let user: User
  /// Runs the demo's program again; `nil` if that is not possible.
  let runAgain: (@Sendable ([String]) async throws -> String)?
  private let backends: [Backend]

  struct User: Sendable {
    let name = "Ada"
    let email: String
    let password: Secret = "correct horse"
  }

  /// The lifetime of the unstable server's access tokens.
  static let tokenLifetime = Duration.seconds(3)

  var servers: [Server] { [qa, staging, production, analytics, cdn, identity, unstable] }

  init(_ options: DemoOptions, stage: Stage) async throws {
    let faults = FaultControls()
    var backends: [Backend] = []
    var servers: [String: Server] = [:]
    let running = ["staging": options.stagingURL, "production": options.productionURL].compactMapValues(\.self)
    for name in ["qa", "staging", "production", "analytics", "cdn", "identity", "unstable"] {
      if let address = running[name] {
        servers[name] = try await Server.running(name, at: address, apiKey: options.apiKey)
      } else {
        var settings = Self.settings(name, options, faults)
        if name == "unstable" { settings.avatarAddress = servers["cdn"]?.address }
        let backend = try await Backend.start(settings)
        backends.append(backend)
        servers[name] = Server(
          name, at: try BaseURL(backend.baseURL), apiKey: settings.apiKey, log: InProcessLog(log: backend.log))
      }
    }
    func server(_ name: String) throws -> Server {
      guard let server = servers[name] else { throw UnknownServer(name: name) }
      return server
    }
    self.stage = stage
    self.faults = faults
    self.backends = backends
    runAgain = options.runAgain
    requiresServers = options.requiresServers
    (qa, staging, production) = (try server("qa"), try server("staging"), try server("production"))
    (analytics, cdn, unstable) = (try server("analytics"), try server("cdn"), try server("unstable"))
    (identity, identityClock) = (try server("identity"), faults.identityClock)
    app = try Client(baseURL: staging.url()) { $0.apply(.app) }
    app.use(staging.client.environment)
    accounts = LiveAccountsService(client: staging.client, credentials: staging.tokens)
    friends = LiveFriendsService(client: app)
    let key = staging.apiKey
    movies = LiveMoviesService(
      client: try Client(baseURL: staging.url("/3")) {
        $0.apply(.app)
        $0.authentication = .apiKey(key, queryParameter: "api_key")
      })
    user = User(email: "ada.\(UInt32.random(in: 0 ... .max))@example.com")
    browserAppFolder = try TemporaryFolder()
    // The bucket server starts while other scenes are played.
    bucketServer = options.checkout.flatMap { BucketServer(of: $0) }
  }

  private struct UnknownServer: Error {
    let name: String
  }

  /// Returns the options of a server. Each server has its own API key. Only the unstable server has short-lived tokens
  /// and faults.
  private static func settings(_ name: String, _ options: DemoOptions, _ faults: FaultControls) -> Backend.Options {
    var settings = Backend.Options()
    settings.name = name
    settings.apiKey = "\(name)-key"
    settings.latency = options.latency
    settings.passwordHashRounds = options.passwordHashRounds
    if name == "cdn" || name == "unstable" { settings.avatars = faults.avatars }
    if name == "identity" { settings.now = { faults.identityClock.now } }
    if name == "unstable" {
      settings.tokenLifetime = tokenLifetime
      settings.now = { faults.clock.now }
      settings.held = faults.held
      settings.lost = faults.lost
      settings.cut = faults.cut
    }
    return settings
  }

  /// Stops the unstable server.
  func stopUnstable() async {
    await backends.last?.stop()
  }

  /// Stops all servers and removes all files.
  func stop() async {
    for backend in backends { await backend.stop() }
    await bucketServer?.stop()
    browserAppFolder.remove()
  }
}

/// The controls of the unstable server: its clock, its held, lost and cut responses, and its avatars; and the clock of
/// the identity server.
struct FaultControls: Sendable {
  let identityClock = AdvancingClock()
  let clock = AdvancingClock()
  let held = HeldResponses()
  let lost = LostResponses()
  let cut = CutResponses()
  let avatars = Avatars()
}

/// The system's clock plus an offset, so that tokens expire without a wait.
final class AdvancingClock: Sendable {
  private let offset = Mutex(Duration.zero)

  var now: Date { Date() + offset.withLock { $0 } / .seconds(1) }

  func advance(by duration: Duration) {
    offset.withLock { $0 += duration }
  }
}

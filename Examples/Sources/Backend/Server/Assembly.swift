import HTTPTypes

/// A builder of a backend's server.
struct Assembly {
  let options: Backend.Options
  let database: Database
  let log: ExchangeLog
  let connections: Connections

  /// The server, ready to run.
  var server: HTTPServer {
    HTTPServer(
      responder: ExchangeResponder(
        routes: routes, latency: options.latency, held: options.held, lost: options.lost, cut: options.cut),
      connections: connections, log: log, now: options.now, name: options.name, port: options.port)
  }

  private var routes: Routes {
    let films = FilmStore(database: database)
    let sessions = SessionStore(
      database: database, now: options.now,
      lifetimes: TokenLifetimes(
        access: options.tokenLifetime, refresh: options.sessionLifetime, isSent: options.sendsTokenLifetime))
    let gatekeeper = Gatekeeper(sessions: sessions, realm: options.name)
    let accounts = AccountStore(
      database: database, now: options.now, hashRounds: options.passwordHashRounds,
      friends: options.friendsPerAccount)
    var routes = Routes()
    InfoRoutes(name: options.name, films: films, latency: options.latency).add(to: &routes)
    AccountRoutes(accounts: accounts, gatekeeper: gatekeeper).add(to: &routes)
    let (client, codes) = (RegisteredClient(id: options.clientID), AuthorizationCodes())
    AuthorizationRoutes(client: client, codes: codes, accounts: accounts, now: options.now).add(to: &routes)
    TokenRoutes(client: client, codes: codes, sessions: sessions, now: options.now).add(to: &routes)
    FriendRoutes(friends: FriendStore(database: database, now: options.now), gatekeeper: gatekeeper).add(to: &routes)
    SocialRoutes(gatekeeper: gatekeeper).add(to: &routes)
    AvatarRoutes(avatars: options.avatars, address: options.avatarAddress, gatekeeper: gatekeeper).add(to: &routes)
    MovieRoutes(films: films, apiKey: options.apiKey).add(to: &routes)
    PosterRoutes(films: films).add(to: &routes)
    FilmContentRoutes(films: films).add(to: &routes)
    FaultRoutes(flakyAttempts: FlakyAttempts()).add(to: &routes)
    NewsRoutes().add(to: &routes)
    EventRoutes(database: database, apiKey: options.apiKey).add(to: &routes)
    LogRoutes(log: log).add(to: &routes)
    return routes
  }
}

/// The route that describes the backend.
///
/// - `GET /`: `{"name": …, "films": …, "latency_ms": …}`
struct InfoRoutes {
  let name: String
  let films: FilmStore
  let latency: Duration

  private struct Info: Encodable {
    let name: String
    let films: Int
    let latencyMs: Int
  }

  func add(to routes: inout Routes) {
    routes.on(.get, "/") { _, _ in
      .json(Info(name: name, films: try await films.count(), latencyMs: Int(latency / .milliseconds(1))))
    }
  }
}

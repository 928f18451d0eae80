import Apus
import Backend
import Foundation
import FriendsService
import MoviesService
import Testing

@Suite struct EnvironmentTests {
  @Test("Switching a client while calls are in flight does not mix up servers or credentials")
  func switching() async throws {
    try await withSite(.testing { $0.latency = .milliseconds(150) }) { staging in
      try await withSite { production in
        try await staging.signIn()
        try await production.signIn()
        let app = staging.client
        let friends = staging.friends
        try await withThrowingTaskGroup { group in
          for _ in 0..<5 { group.addTask { _ = try await friends.categories() } }
          let inFlight = await staging.backend.log.rows(atLeast: 5) { $0.path == "/friends/categories" }
          #expect(inFlight.count == 5)
          app.use(production.client.environment)
          for _ in 0..<5 { group.addTask { _ = try await friends.categories() } }
          try await group.waitForAll()
        }
        let path = "/friends/categories"
        for site in [staging, production] {
          let rows = site.backend.log.rows { $0.path == path }
          #expect(rows.count == 5)
          #expect(rows.allSatisfy { $0.credential == site.fingerprint && $0.status == 200 })
        }
        #expect(staging.fingerprint != production.fingerprint)
      }
    }
  }

  @Test("Two concurrent clients call their own servers only")
  func twoClients() async throws {
    try await withSite { staging in
      try await withSite(.testing { $0.friendsPerAccount = 3 }) { production in
        try await staging.signIn()
        try await production.signIn()
        async let here = staging.friends.latestFriends(in: nil)
        async let there = production.friends.latestFriends(in: nil)
        let counts = try await (here.totalResults, there.totalResults)
        #expect(counts == (40, 3))
      }
    }
  }

  @Test("The configuration selects the server and the key of the movies", arguments: ["qa", "staging", "production"])
  func configuration(name: String) async throws {
    try await withMovieServers(["qa", "staging", "production"]) { configuration, servers in
      var configuration = configuration
      configuration.environment = name
      let movies = try LiveMoviesService(configuration)
      let page = try await movies.newMovies(page: 1)
      #expect(page.results.count == 20)
      let movie = try #require(page.results.first)
      #expect(try await movies.poster(of: movie)?.type == "image/svg+xml")
      for server in servers {
        let rows = server.log.rows
        guard server.name == name else {
          #expect(rows.isEmpty)
          continue
        }
        #expect(rows.map(\.path) == ["/3/movie/now_playing", "/t/p/w185/\(movie.id).svg"])
        #expect(rows.map(\.credential) == ["api_key:\(Backend.fingerprint(of: "\(name)-key"))", nil])
      }
    }
  }

  @Test("An environment that is not in the configuration is an error with its name")
  func unknownEnvironment() throws {
    let configuration = try JSONDecoder().decode(
      MoviesConfiguration.self, from: Data(#"{"environment": "beta", "environments": {}}"#.utf8))
    let error = #expect(throws: MoviesConfiguration.UnknownEnvironment.self) { try LiveMoviesService(configuration) }
    #expect(error?.description == "The configuration has no environment “beta”.")
  }

  /// Starts servers, each with its own key, and decodes a configuration file that lists them.
  private func withMovieServers(
    _ names: [String], _ test: (MoviesConfiguration, [Backend]) async throws -> Void
  ) async throws {
    var servers: [Backend] = []
    for name in names {
      servers.append(
        try await Backend.start(
          .testing { options in
            options.name = name
            options.apiKey = "\(name)-key"
          }))
    }
    let sites = servers.map { server in
      let (address, name) = (server.baseURL, server.name)
      return #""\#(name)": {"api": "\#(address)/3", "images": "\#(address)/t/p", "key": "\#(name)-key"}"#
    }
    let file = #"{"environment": "none", "environments": {\#(sites.joined(separator: ", "))}}"#
    do {
      try await test(try JSONDecoder().decode(MoviesConfiguration.self, from: Data(file.utf8)), servers)
    } catch {
      for server in servers { await server.stop() }
      throw error
    }
    for server in servers { await server.stop() }
  }
}

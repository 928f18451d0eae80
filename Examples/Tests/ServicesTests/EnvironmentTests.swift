import Apus
import Backend
import FriendsService
import Testing

@Suite struct EnvironmentTests {
  @Test("a client is switched while its calls are in flight, and nothing crosses over")
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

  @Test("two clients at once keep to their servers")
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
}

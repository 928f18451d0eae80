import Apus
import Backend
import FriendsService
import Testing

/// Calls without a network, on a real server.
@Suite struct ConnectivityTests {
  private let connectivity = Connectivity()

  private func client(of site: Site) -> Client {
    Client(baseURL: site.client.environment.baseURL) {
      $0.environment = site.client.environment
      $0.connectivity = connectivity
      $0.connectivityPolicy = .failFast
    }
  }

  @Test("Without a network a call fails immediately as offline, and no request is sent")
  func failFast() async throws {
    try await withSite { site in
      try await site.signIn()
      connectivity.report(.offline)
      let friends = LiveFriendsService(client: client(of: site))
      let error = await #expect(throws: CallError.self) { try await friends.latestFriends(in: nil) }
      #expect(error?.code == .offline)
      #expect(error?.isUnreachable == true)
      #expect(error?.requestState == .notSent)
      #expect(site.backend.log.rows { $0.path == "/friends" }.isEmpty)
      connectivity.report(.online)
      #expect(try await friends.latestFriends(in: nil).totalResults == 40)
    }
  }

  @Test("A call that waits for the network is sent once when the network is available again")
  func waiting() async throws {
    try await withSite { site in
      try await site.signIn()
      connectivity.report(.offline)
      let client = client(of: site)
      let request = Request<FriendsPage>.get("/friends", query: ["page": 1]).json(.snakeCase).connectivity(.wait)
      let call = Task { try await client.send(request) }
      try await wait { connectivity.waitingCount == 1 }
      #expect(site.backend.log.rows { $0.path == "/friends" }.isEmpty)
      connectivity.report(.online)
      #expect(try await call.value.totalResults == 40)
      #expect(site.backend.log.rows { $0.path == "/friends" }.map(\.status) == [200])
    }
  }
}

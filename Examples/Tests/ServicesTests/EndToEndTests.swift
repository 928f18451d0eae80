import AccountsService
import Apus
import Backend
import FriendsService
import MoviesService
import Testing

@Suite struct EndToEndTests {
  @Test("A user signs up, signs in and signs out")
  func accounts() async throws {
    try await withSite { site in
      let form = SignUpForm(name: "Ada", email: "nonsense", password: "short")
      guard case .rejected(let rejection) = try await site.accounts.signUp(form) else {
        Issue.record("the form was accepted")
        return
      }
      #expect(rejection.errors.map(\.field) == ["email", "password"])
      try await site.signIn()
      #expect(try await site.accounts.account().email == "ada@example.com")
      let token = site.fingerprint
      #expect(site.backend.log.rows { $0.path == "/accounts/me" }.map(\.credential) == [token])
      #expect(site.backend.log.rows { $0.path == "/sessions" }.map(\.credential) == [nil])
      try await site.accounts.signOut()
      let error = await #expect(throws: CallError.self) { try await site.accounts.account() }
      #expect(error?.status == 401)
      #expect(site.backend.log.rows { $0.path == "/accounts/me" }.map(\.credential) == [token, nil])
      #expect(site.backend.log.rows { $0.path == "/sessions/revoke" }.map(\.status) == [204])
    }
  }

  @Test("An e-mail address in use is an error with the server's message")
  func conflict() async throws {
    try await withSite { site in
      try await site.signIn()
      let form = SignUpForm(name: "Eve", email: "ada@example.com", password: "correct horse")
      let error = await #expect(throws: CallError.self) { try await site.accounts.signUp(form) }
      #expect(error?.status == 409)
      #expect(error?.rejection?.message != nil)
    }
  }

  @Test("A friend is added, grouped, listed and removed")
  func friends() async throws {
    try await withSite(.testing { $0.friendsPerAccount = 0 }) { site in
      try await site.signIn()
      guard case .accepted(let grace) = try await site.friends.add(NewFriend(name: "Grace")) else {
        Issue.record("the friend was not accepted")
        return
      }
      #expect(try await site.friends.put(grace.id, in: "chess & tea").category == "chess & tea")
      #expect(try await site.friends.categories() == [FriendCategory(name: "chess & tea", count: 1)])
      #expect(try await site.friends.latestFriends(in: "chess & tea").items.map(\.name) == ["Grace"])
      #expect(try await site.friends.latestFriends(in: "chess").items.isEmpty)
      #expect(try await site.friends.put(grace.id, in: nil).category == nil)
      try await site.friends.remove(grace.id)
      #expect(try await site.friends.latestFriends(in: nil).items.isEmpty)
      let error = await #expect(throws: CallError.self) { try await site.friends.remove(grace.id) }
      #expect(error?.errorDescription == "There is no such friend.")
    }
  }

  @Test("The pages contain every friend once")
  func pages() async throws {
    try await withSite(.testing { $0.friendsPerAccount = 23 }) { site in
      try await site.signIn()
      var sizes: [Int] = []
      var ids: Set<Friend.ID> = []
      for try await page in site.friends.pages(in: nil) {
        sizes.append(page.items.count)
        ids.formUnion(page.items.map(\.id))
      }
      #expect(sizes == [10, 10, 3])
      #expect(ids.count == 23)
      #expect(site.backend.log.rows { $0.path == "/friends" }.map(\.status) == [200, 200, 200])
    }
  }

  @Test("An empty list is a single empty page")
  func emptyList() async throws {
    try await withSite(.testing { $0.friendsPerAccount = 0 }) { site in
      try await site.signIn()
      var count = 0
      for try await page in site.friends.pages(in: nil) {
        #expect(page.items.isEmpty)
        count += 1
      }
      #expect(count == 1)
    }
  }

  @Test("Movies are paged, searched and recommended, with the key in every request")
  func movies() async throws {
    try await withSite { site in
      var films: [Movie] = []
      for try await page in site.movies.popular() {
        films += page.results
        if page.page == 3 { break }
      }
      #expect(films.count == 60)
      #expect(Set(films.map(\.id)).count == 60)
      let best = try #require(films.first)
      async let details = site.movies.details(of: best.id)
      async let found = site.movies.search(best.title)
      let (film, search) = try await (details, found)
      #expect(film.title == best.title)
      #expect(try await site.movies.videos(of: best.id).map(\.type) == ["Trailer", "Teaser", "Featurette"])
      #expect(search.results.contains { $0.id == best.id })
      for try await page in site.movies.recommendations(for: best.id) {
        #expect(!page.results.contains { $0.id == best.id })
        break
      }
      let new = try await site.movies.newMovies(page: 1)
      #expect(!new.results.isEmpty)
      let key = "api_key:\(Backend.fingerprint(of: "demo-key"))"
      #expect(site.backend.log.rows.allSatisfy { $0.credential == key && $0.status == 200 })
    }
  }

  @Test("Calls succeed after the access token expired")
  func expiry() async throws {
    let time = ServerTime()
    try await withSite(.testing { $0.now = { time.now } }) { site in
      try await site.signIn()
      let first = site.fingerprint
      time.advance(by: .seconds(3600))
      #expect(try await site.friends.latestFriends(in: nil).totalResults == 40)
      let second = site.fingerprint
      time.advance(by: .seconds(3600))
      #expect(try await site.accounts.account().name == "Ada")
      #expect(Set([first, second, site.fingerprint]).count == 3)
      #expect(site.refreshes.map(\.status) == [200, 200])
      #expect(site.events.all.isEmpty)
    }
  }

  @Test("A failed child task cancels its siblings, and the server sees them disconnect")
  func siblings() async throws {
    try await withSite { site in
      try await site.signIn()
      let client = site.client
      let error = await #expect(throws: CallError.self) {
        async let stalled: Void = client.send(Request<Void>.method(.get, "/faults/stall"))
        _ = await site.backend.log.first { $0.path == "/faults/stall" }
        async let missing: Void = site.friends.remove(999_999)
        try await missing
        try await stalled
      }
      #expect(error?.status == 404)
      let row = await site.backend.log.first { $0.path == "/faults/stall" && $0.hasEnded }
      #expect(row?.clientLeft == true)
      #expect(client.calls.isEmpty)
    }
  }
}

import Apus
import Backend
import FriendsService
import MoviesService
import Testing

/// The priorities, tags and retries of the services' endpoints, on a real server.
@Suite struct ControlTests {
  @Test(
    "Paused posters wait, a search does not, and the concurrency limit is respected",
    .timeLimit(.minutes(5)))
  func posters() async throws {
    try await withSite { site in
      let scheduler = Scheduler(ConcurrencyLimits(perOrigin: 4))
      let movies = try Site.movies(of: site.backend, scheduler)
      let films = try await movies.mostPopular()
      scheduler.pause("images")
      try await withThrowingTaskGroup(of: Poster?.self) { group in
        for film in films { group.addTask { try await movies.poster(of: film) } }
        try await wait { scheduler.queuedCount >= films.count }
        _ = try await movies.search("matrix")
        #expect(site.backend.log.rows.map(\.path) == ["/3/movie/popular", "/3/search/movie"])
        scheduler.resume("images")
        for try await poster in group { #expect(poster?.type == "image/svg+xml") }
      }
      let rows = site.backend.log.rows
      #expect(rows.count { $0.path.hasPrefix("/t/p/w185/") && $0.credential == nil } == films.count)
      #expect(rows.map(\.atWork).max() ?? 0 <= 4)
    }
  }

  @Test("A lost response is retried with the same key, and the friend is added once")
  func lostAnswer() async throws {
    let options = Backend.Options.testing { $0.friendsPerAccount = 0 }
    try await withSite(options) { site in
      try await site.signIn()
      options.lost.lose("POST /friends")
      guard case .accepted(let grace) = try await site.friends.add(NewFriend(name: "Grace")) else {
        Issue.record("the friend was not accepted")
        return
      }
      #expect(try await site.friends.latestFriends(in: nil).items == [grace])
      let rows = site.backend.log.rows { $0.method == "POST" && $0.path == "/friends" }
      #expect(rows.map(\.status) == [502, 201])
      #expect(rows.first?.idempotencyKey != nil)
      #expect(Set(rows.map(\.idempotencyKey)).count == 1)
    }
  }

  @Test("Without a key a lost response is not retried, and the error contains the reason")
  func withoutKey() async throws {
    let options = Backend.Options.testing { $0.friendsPerAccount = 0 }
    try await withSite(options) { site in
      try await site.signIn()
      options.lost.lose("POST /friends")
      let request = Request<Friend>.post("/friends", content: .json(NewFriend(name: "Edsger")))
      let error = await #expect(throws: CallError.self) { try await site.client.send(request) }
      #expect(error?.status == 502)
      #expect(error?.attempts == 1)
      #expect(error?.trace.failedAttempts.last?.giveUpReason == .notIdempotent)
      #expect(try await site.friends.latestFriends(in: nil).items.map(\.name) == ["Edsger"])
    }
  }

  @Test("A safe request is retried until it succeeds, and the trace contains every attempt")
  func flaky() async throws {
    try await withSite { site in
      let request = Request<Void>.method(.get, "/faults/flaky", query: ["key": "control", "failures": 2])
      let trace = try await site.client.response(to: request).trace
      #expect(trace.failedAttempts.map(\.status) == [503, 503])
      #expect(site.backend.log.rows.map(\.status) == [503, 503, 200])
    }
  }
}

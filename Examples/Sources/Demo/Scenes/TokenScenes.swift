import AccountsService
import Apus
import Backend
import FriendsService

/// Calls that continue while access tokens expire: each expiry causes one refresh.
struct RefreshScene: Scene {
  let title = "Access tokens that live three seconds, and twenty calls"

  private static let call = "GET /friends/categories"
  /// Two calls at a time, ten times: long enough for two expiries, too short for a third.
  private static let pause = Duration.milliseconds(700)
  private static let calls = 20

  func play(in world: World) async throws -> [Claim] {
    let (stage, server, user) = (world.stage, world.unstable, world.user)
    let accounts = LiveAccountsService(client: server.client, credentials: server.tokens)
    _ = try await accounts.signUp(SignUpForm(name: user.name, email: user.email, password: user.password))
    try await accounts.signIn(email: user.email, password: user.password)
    let before = server.tokens.current().generation
    try await load(LiveFriendsService(client: server.client), on: stage)
    try await waitUntilIdle(server.client)
    let refreshes = Int(server.tokens.current().generation - before)
    stage.finishProgress("\(Stage.bar(1, of: 1))  \(Self.calls) calls in \(Self.pause * (Self.calls / 2)), none failed")
    stage.say("The tokens expired and were refreshed \(refreshes) times; the app did not notice.")
    return [
      Claim(
        name: "short-tokens", server: server, subject: Self.call, expected: "200 ×\(Self.calls)",
        summary: Claim.successes),
      Claim(
        name: "refreshes", server: server, subject: "POST /sessions/refresh", expected: "200 ×\(max(2, refreshes))"),
    ]
  }

  private func load(_ friends: LiveFriendsService, on stage: Stage) async throws {
    let start = ContinuousClock.now
    try await withThrowingTaskGroup(of: Void.self) { group in
      for index in 0..<Self.calls {
        group.addTask {
          try await Task.sleep(until: start + Self.pause * (index / 2), clock: .continuous)
          _ = try await friends.categories()
        }
      }
      var count = 0
      for try await _ in group {
        count += 1
        stage.progress("\(Stage.bar(count, of: Self.calls))  \(count) responses")
      }
    }
  }
}

/// A sign-out during a refresh: the late response must not sign the user in again.
struct LateResponseScene: Scene {
  let title = "A sign-out during a refresh: the late tokens are dropped"

  private static let refresh = "POST /sessions/refresh"

  func play(in world: World) async throws -> [Claim] {
    let (stage, server, user) = (world.stage, world.unstable, world.user)
    let accounts = LiveAccountsService(client: server.client, credentials: server.tokens)
    let friends = LiveFriendsService(client: server.client)
    try await accounts.signIn(email: user.email, password: user.password)
    let position = try await server.log.position()
    world.faults.held.hold(Self.refresh)
    world.faults.clock.advance(by: World.tokenLifetime)
    let call = Task { try await accounts.account() }
    try await server.log.waitForArrivals(1, of: Self.refresh, since: position)
    await world.faults.held.waitForResponses(1)
    stage.say("A call waits for a refresh, and the server holds its response. Ada signs out:")
    try await accounts.signOut()
    try await showFailure(.refused, on: stage) { try await call.value }
    world.faults.held.release()
    try await waitUntilIdle(server.client)
    stage.say("The response arrives and is dropped. Tokens stored: \(server.fingerprint)")
    try await showFailure(.rejected, on: stage) { try await friends.latestFriends(in: nil) }
    return [
      Claim(name: "late-response", server: server, subject: Self.refresh, expected: "1", summary: Claim.count),
      Claim(name: "revoked", server: server, subject: "POST /sessions/revoke", expected: "204"),
      Claim(
        name: "after-late-response", server: server, subject: "GET /friends", expected: "none",
        summary: Claim.credentials),
      .app("stays-signed-out", "tokens after a late response", expected: "none", shown: server.fingerprint),
    ]
  }
}

/// A form whose response is lost. A retry is safe only with an idempotency key.
struct LostResponseScene: Scene {
  let title = "A lost response: with an idempotency key, the friend is added once"

  private static let call = "POST /friends"

  func play(in world: World) async throws -> [Claim] {
    let (stage, server, user) = (world.stage, world.unstable, world.user)
    let accounts = LiveAccountsService(client: server.client, credentials: server.tokens)
    let friends = LiveFriendsService(client: server.client)
    try await accounts.signIn(email: user.email, password: user.password)
    let before = try await friends.latestFriends(in: nil).totalResults
    world.faults.lost.lose(Self.call)
    stage.say("The server adds a friend, and its response is lost. Without a key, the call must not be retried:")
    let error = try await showFailure(.rejected, on: stage) {
      try await server.client.send(.addFriendWithoutKey(NewFriend(name: "Edsger")))
    }
    stage.note("\(error)")
    world.faults.lost.lose(Self.call)
    guard case .accepted(let grace) = try await friends.add(NewFriend(name: "Grace")) else {
      throw UnexpectedRejection()
    }
    let added = try await friends.latestFriends(in: nil).totalResults - before
    stage.say("With a key, the call is retried, and the server adds \(grace.name) once.")
    return [
      Claim(name: "lost-responses", server: server, subject: Self.call, expected: "502 ×2, 201"),
      Claim(
        name: "one-key", server: server, subject: Self.call, expected: "1 without, 2 with the same",
        summary: Claim.keys),
      .app("added-once", "friends added by three requests", expected: "2", shown: "\(added)"),
    ]
  }
}

/// A session that cannot be refreshed: one error message, one event for the app, and a new sign-in.
struct ExpiredSessionScene: Scene {
  let title = "An expired session: the app is notified once to show its sign-in"

  func play(in world: World) async throws -> [Claim] {
    let (stage, server, user) = (world.stage, world.unstable, world.user)
    let accounts = LiveAccountsService(client: server.client, credentials: server.tokens)
    try await accounts.signIn(email: user.email, password: user.password)
    _ = try await accounts.account()
    let before = server.endedSessions.count
    stage.say("Ada is signed in. A session lasts a month without a refresh; two months later …")
    world.faults.clock.advance(by: .seconds(60 * 24 * 3600))
    try await showFailure(.refused, on: stage) { try await accounts.account() }
    let events = server.endedSessions.count - before
    stage.say("Events that tell the app to show its sign-in: \(events)")
    try await accounts.signIn(email: user.email, password: user.password)
    stage.say("\(try await accounts.account().name) signs in again.")
    return [
      Claim(name: "expired", server: server, subject: "GET /accounts/me", expected: "200, 401, 200"),
      Claim(name: "not-refreshed", server: server, subject: "POST /sessions/refresh", expected: "400"),
      .app("session-over", "events that the session is over", expected: "1", shown: "\(events)"),
    ]
  }
}

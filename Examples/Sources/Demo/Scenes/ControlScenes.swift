import AccountsService
import Apus
import FriendsService

/// Three calls in flight: the first is cancelled by its id, then the remaining two.
struct CancelScene: Scene {
  let title = "Cancel one call, then all"

  func play(in world: World) async throws -> [Claim] {
    let (stage, app) = (world.stage, world.app)
    let position = try await world.staging.log.position()
    async let export = isCancelled { try await app.send(.stalled().id("export", onDuplicate: .refuse)) }
    async let image = isCancelled { try await app.send(.stalled().tag("images")) }
    async let other = isCancelled { try await app.send(.stalled().tag("images")) }
    try await world.staging.log.waitForArrivals(3, of: "GET /faults/stall", since: position)
    stage.say("\(app.calls.count) calls in flight: cancel “export” …")
    app.calls.cancel(id: "export")
    guard await export else { throw UnexpectedOutcome(expected: .cancelled) }
    stage.say("… \(app.calls.count) left: cancel all …")
    app.calls.cancelAll()
    let rest = await [image, other]
    guard rest == [true, true] else { throw UnexpectedOutcome(expected: .cancelled) }
    stage.say("… \(app.calls.count) left. The app shows no error: a cancelled call is not a failure.")
    return [Claim(name: "cancelled", server: world.staging, subject: "GET /faults/stall", expected: "left ×3")]
  }

  private func isCancelled(_ call: () async throws -> Void) async -> Bool {
    do {
      try await call()
      return false
    } catch {
      return (error as? CallError)?.cancellation == .requested
    }
  }
}

/// The trace of a call, as a timeline.
struct TraceScene: Scene {
  let title = "The trace of a call: where its time went"

  func play(in world: World) async throws -> [Claim] {
    let request = Request<FriendsPage>.get("/friends", query: ["page": 2]).json(.snakeCase)
    let response = try await world.app.response(to: request)
    for line in "\(response.trace)".split(separator: "\n") { world.stage.note(String(line)) }
    return [Claim(name: "traced", server: world.staging, subject: "GET /friends", expected: "200")]
  }
}

/// A sign-out, after which no call carries the token.
struct SignOutScene: Scene {
  let title = "Sign-out: calls no longer carry the token"

  func play(in world: World) async throws -> [Claim] {
    try await world.accounts.signOut()
    world.stage.say("Ada is signed out. Her friends are no longer accessible:")
    let friends = world.friends
    try await showFailure(.rejected, on: world.stage) { try await friends.latestFriends(in: nil) }
    return [
      Claim(name: "sign-out", server: world.staging, subject: "POST /sessions/revoke", expected: "204"),
      Claim(name: "signed-out", server: world.staging, subject: "GET /friends", expected: "401"),
      Claim(
        name: "no-token", server: world.staging, subject: "GET /friends", expected: "none",
        summary: Claim.credentials),
    ]
  }
}

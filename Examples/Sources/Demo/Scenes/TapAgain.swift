import Apus
import FriendsScreen

/// Somebody taps "reload" again before the first answer is there.
struct TapAgain: Scene {
  let title = "Friends: tapping again before the answer"

  func play(in world: World) async throws -> [Claim] {
    let stage = world.stage
    let log = world.staging.log
    let position = try await log.position()
    let model = await FriendsModel(service: world.friends)
    stage.say("tap: reload")
    async let first: Void = model.reload()
    try await log.waitForArrivals(1, of: "GET /friends", since: position)
    stage.say("tap: reload")
    async let second: Void = model.reload()
    await first
    stage.say("the first call is superseded; the spinner \(await model.isLoading ? "turns on" : "STOPPED")")
    await second
    stage.say(
      "the second gives \(await model.friends.count) friends; the spinner \(await model.isLoading ? "TURNS" : "stops")")
    stage.say(
      "the list was replaced \(await model.revision == 1 ? "once" : "\(await model.revision) times"), no error is shown"
    )
    return [Claim(name: "tap-again", server: world.staging, subject: "GET /friends", expected: "left, 200")]
  }
}

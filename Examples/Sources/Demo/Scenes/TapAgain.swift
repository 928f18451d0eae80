import Apus
import FriendsScreen

/// Somebody taps "reload" again before the first answer is there.
struct TapAgain: Scene {
  let title = "Friends: tapping again before the answer"

  func play(in world: World) async throws -> [Claim] {
    let (stage, log) = (world.stage, world.staging.log)
    let position = try await log.position()
    let model = await FriendsModel(service: world.friends)
    stage.say("tap: reload")
    async let first: Void = model.reload()
    try await log.waitForArrivals(1, of: "GET /friends", since: position)
    stage.say("tap: reload")
    async let second: Void = model.reload()
    await first
    let between = await spinner(of: model)
    stage.say("the first call is superseded; the spinner \(between)")
    await second
    let after = await spinner(of: model)
    let revision = await model.revision
    stage.say("the second gives \(await model.friends.count) friends; the spinner \(after)")
    stage.say("times the list was replaced: \(revision); error shown: \(await model.errorText ?? "none")")
    return [
      Claim(name: "tap-again", server: world.staging, subject: "GET /friends", expected: "left, 200"),
      .app("spinner", "after each of two taps", expected: "turns, stops", shown: "\(between), \(after)"),
      .app("one-result", "lists shown after two taps", expected: "1", shown: "\(revision)"),
    ]
  }

  private func spinner(of model: FriendsModel) async -> String {
    await model.isLoading ? "turns" : "stops"
  }
}

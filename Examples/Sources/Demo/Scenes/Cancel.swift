import Apus

/// Three calls in flight: one is cancelled, then all that are left.
struct Cancel: Scene {
  let title = "Cancelling one, cancelling all"

  func play(in world: World) async throws -> [Claim] {
    let stage = world.stage
    let app = world.app
    let position = try await world.staging.log.position()
    async let export = isCancelled { try await app.send(.stalled().id("export", whenRunning: .refuse)) }
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
    stage.say("… \(app.calls.count) left; the apps show nothing, cancelling is no failure")
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

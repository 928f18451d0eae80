import Testing

@testable import ApusMiddleware

/// Tests small cases with their steps in every order.
@Suite("Refresh: interleavings")
struct RefreshInterleavingTests {
  typealias Disturbances = RefreshWorld.Disturbances

  /// Explores all reachable worlds, each once, and returns the final worlds.
  private func ends(of world: RefreshWorld) -> Set<RefreshWorld> {
    var ends: Set<RefreshWorld> = []
    var seen: Set<RefreshWorld> = [world]
    var rest = [world]
    while let world = rest.popLast() {
      let steps = world.steps
      if steps.isEmpty { ends.insert(world) }
      for step in steps {
        var next = world
        next.perform(step)
        if seen.insert(next).inserted { rest.append(next) }
      }
    }
    #expect(seen.count > 5 && !ends.isEmpty)
    return ends
  }

  private func outcomes(_ world: RefreshWorld) -> [RefreshWorld.Outcome?] {
    world.callers.map { if case .done(let outcome) = $0 { outcome } else { nil } }
  }

  /// Checks the rules that hold for every order of steps.
  private func check(_ end: RefreshWorld) {
    #expect(!outcomes(end).contains(nil), "a call waits for ever: \(end.callers)")
    #expect(Set(end.requested).count == end.requested.count, "a generation was refreshed twice: \(end.requested)")
    #expect(end.ends <= 1)
    #expect(end.state.flights.isEmpty && end.state.waiters.isEmpty)
    if end.isSignedOut { #expect(end.stored.token == nil, "the sign-out was undone") }
    if let rotated = end.rotated, !end.wasReplaced { #expect(end.stored.token == rotated, "new tokens were lost") }
  }

  @Test("There is one refresh, and each call gets a response", arguments: 1...3, [false, true])
  func success(callers: Int, knowsExpiry: Bool) {
    for end in ends(of: RefreshWorld(callers: callers, reply: .tokens, knowsExpiry: knowsExpiry)) {
      check(end)
      #expect(end.requested == [1])
      #expect(outcomes(end).allSatisfy { $0 == .accepted })
      #expect(end.stored.token == 2 && end.stored.generation == 2)
    }
  }

  @Test("A call that is cancelled at any step does not affect other calls", arguments: 2...3, [false, true])
  func cancelling(callers: Int, knowsExpiry: Bool) {
    let world = RefreshWorld(callers: callers, reply: .tokens, Disturbances(cancels: 0), knowsExpiry: knowsExpiry)
    let ends = ends(of: world)
    for end in ends {
      check(end)
      #expect(outcomes(end).dropFirst().allSatisfy { $0 == .accepted })
    }
    #expect(ends.contains { $0.callers[0] == .done(.cancelled) })
  }

  @Test("A sign-out at any step is not undone by the refresh", arguments: RefreshWorld.Reply.allCases, [false, true])
  func signingOut(reply: RefreshWorld.Reply, knowsExpiry: Bool) {
    let world = RefreshWorld(callers: 2, reply: reply, Disturbances(signsOut: true), knowsExpiry: knowsExpiry)
    for end in ends(of: world) {
      check(end)
      #expect(end.isSignedOut)
    }
  }

  @Test(
    "A sign-in of another account at any step is not undone by the refresh, and no call is sent with the wrong tokens",
    arguments: RefreshWorld.Reply.allCases, [false, true])
  func signingIn(reply: RefreshWorld.Reply, knowsExpiry: Bool) {
    let world = RefreshWorld(callers: 2, reply: reply, Disturbances(signsIn: true), knowsExpiry: knowsExpiry)
    let ends = ends(of: world)
    for end in ends {
      check(end)
      // The store contains the new account's tokens: the refresh of the old tokens did not change the store.
      #expect(end.stored.token != nil && end.stored.principal > 0)
    }
    #expect(ends.contains { outcomes($0).contains(.refused) })
  }

  @Test(
    "An overdue refresh has no waiters, and its late result is stored",
    arguments: RefreshWorld.Reply.allCases, [false, true])
  func timingOut(reply: RefreshWorld.Reply, knowsExpiry: Bool) {
    let world = RefreshWorld(callers: 2, reply: reply, Disturbances(timesOut: true), knowsExpiry: knowsExpiry)
    let ends = ends(of: world)
    for end in ends { check(end) }
    #expect(ends.contains { outcomes($0).contains(.failed) })
  }

  @Test("A permanent rejection ends the session once", arguments: 1...3, [false, true])
  func permanent(callers: Int, knowsExpiry: Bool) {
    for end in ends(of: RefreshWorld(callers: callers, reply: .rejection, knowsExpiry: knowsExpiry)) {
      check(end)
      #expect(end.ends == 1 && end.stored.token == nil)
      #expect(outcomes(end).allSatisfy { $0 == .failed || $0 == .rejected })
    }
  }

  @Test(
    "A temporary failure leaves the tokens stored, and is not repeated by each call", arguments: 1...3, [false, true])
  func temporary(callers: Int, knowsExpiry: Bool) {
    for end in ends(of: RefreshWorld(callers: callers, reply: .failure, knowsExpiry: knowsExpiry)) {
      check(end)
      #expect(end.requested == [1])
      #expect(end.ends == 0 && end.stored.token == 1)
      #expect(outcomes(end).allSatisfy { $0 == .failed || $0 == .rejected })
    }
  }

  @Test(
    "With two calls and any other event, no call waits for ever, and no token is requested twice or lost",
    arguments: RefreshWorld.Reply.allCases, [false, true])
  func everything(reply: RefreshWorld.Reply, knowsExpiry: Bool) {
    let all = Disturbances(cancels: 1, signsOut: true, signsIn: true, timesOut: true)
    for end in ends(of: RefreshWorld(callers: 2, reply: reply, all, knowsExpiry: knowsExpiry)) { check(end) }
  }
}

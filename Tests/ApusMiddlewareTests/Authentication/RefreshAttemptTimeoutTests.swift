import ApusCore
import ApusMiddleware
import ApusTesting
import TestSupport
import Testing

@Suite("Refresh: the timeout of an attempt")
struct RefreshAttemptTimeoutTests {
  private let gate = Gate()
  private let ping = Request<String>.get("/ping")

  private func client(_ bench: RefreshBench) -> Client {
    var client = TestClient()
    client.environment.authentication = .bearer(bench.tokens, limit: .seconds(300)) {
      try await $0.send(.newTokens(for: $0.token).attemptTimeout(nil))
    }
    client.settings.runtime = Runtime(clock: bench.clock)
    client.customize = {
      $0.insert(LeavingTime(), .after(.retry))
      $0.insert(AttemptTimeoutMiddleware(), .after(.attemptTimeout))
    }
    return client.over(bench.stub)
  }

  @Test(
    "An attempt that exceeds its timeout stops waiting, and other calls continue to wait",
    arguments: [true, false])
  func givesUp(knowsExpiry: Bool) async throws {
    let bench = RefreshBench(gate: gate, lifetime: knowsExpiry ? .seconds(100) : nil)
    let api = client(bench)
    if knowsExpiry { bench.clock.advance(by: .seconds(200)) } else { bench.expire() }
    let hasty = Task { [ping] in await failure { try await api.send(ping.attemptTimeout(.seconds(3))) } }
    try await gate.waitForArrivals(1)
    let patient = Task { [ping] in try await api.send(ping.attemptTimeout(.seconds(200))) }
    try await waitWhile(!api.calls.isWaitingForCredentials(2))
    bench.clock.advance(by: .seconds(3))
    let error = try #require(await hasty.value)
    #expect(error.code == .timeout && error.phase == .waiting)
    // The server has responded if it rejected the old token.
    #expect(error.requestState == (knowsExpiry ? .notSent : .responded))
    #expect(error.cancellation == nil)
    gate.open()
    let text = try await patient.value
    #expect(text == "ok ")
    #expect(bench.refreshes == 1)
    #expect(bench.tokens.current().generation == 1)
  }

  @Test("The deadline of the call that began a refresh does not end the refresh")
  func sharedWork() async throws {
    let bench = RefreshBench(gate: gate)
    let api = client(bench)
    bench.expire()
    let hasty = Task { [ping] in
      await api.withDeadline(.seconds(3)) { await failure { try await api.send(ping) } }
    }
    try await gate.waitForArrivals(1)
    try await waitWhile(!api.calls.isWaitingForCredentials(1))
    bench.clock.advance(by: .seconds(3))
    #expect(await hasty.value?.cancellation == .deadline(.waiting))
    gate.open()
    try await waitWhile(bench.tokens.current().generation == 0)
    let text = try await api.send(ping)
    #expect(text == "ok ")
    #expect(bench.refreshes == 1)
  }
}

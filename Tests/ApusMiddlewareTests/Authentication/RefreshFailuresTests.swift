import ApusCore
import ApusMiddleware
import ApusTesting
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@Suite("Refresh: failures")
struct RefreshFailuresTests {
  private let ping = Request<String>.get("/ping")
  /// A call whose timeout is shorter than every cool-down.
  private var hasty: Request<String> { ping.timeout(.milliseconds(500)) }

  @Test(
    "A permanent rejection clears the tokens and ends the session once, for all waiting calls",
    arguments: [401, 403, 400])
  func permanent(status: Int) async throws {
    let gate = Gate()
    let bench = RefreshBench(gate: gate)
    let api = bench.client()
    bench.expire()
    bench.replyToRefreshes(with: .json(#"{"error":"invalid_grant"}"#, status: status))
    let calls = (0..<20).map { _ in Task { await failure { try await api.send(ping) } } }
    try await gate.waitForArrivals(1)
    // The other calls are rejected as well, or wait before they are sent.
    try await waitWhile(!api.calls.isWaitingForCredentials(20))
    gate.open()
    for call in calls {
      let error = try #require(await call.value)
      // The status is that of the call's own response, not that of the token endpoint.
      #expect(error.code == .refused && error.sessionEnd == .expired && error.isSessionOver)
      #expect(error.endpoint.template == "/ping" && error.rejection == nil && error.content == nil)
      #expect(error.status == (error.requestState == .responded ? 401 : nil))
      #expect(error.message == "You need to sign in to do this.")
      let cause = error.underlying as? CallError
      #expect(cause?.status == status && cause?.endpoint.template == "/token")
    }
    #expect(bench.tokens.current().credential == nil)
    #expect(bench.events.all.map(\.generation) == [0] && bench.events.all.map(\.reason) == [.expired])
    // There is no further refresh.
    #expect(await failure { try await api.send(ping) }?.status == 401)
    #expect(bench.refreshes == 1)
    // A sign-in ends this state.
    bench.tokens.set(Tokens(access: "access-0", refresh: "refresh-1"))
    let text = try await api.send(ping)
    #expect(text == "ok ")
  }

  @Test(
    "After any other failure the tokens stay in the store, waiting calls fail, and a refresh can start after a second",
    arguments: [
      StubReply.status(500), .json(#"{"error":"invalid_request"}"#, status: 400), .text("no tokens"),
      .failure(TransportError(.connectionFailed, requestState: .notSent)),
    ])
  func temporary(reply: StubReply) async throws {
    let bench = RefreshBench()
    let api = bench.client()
    bench.expire()
    bench.replyToRefreshes(with: reply)
    let error = try #require(await failure { try await api.send(hasty) })
    #expect(error.requestState == .responded, "\(error)")
    #expect(error.detail.contains("needed another call, which failed") || error.detail.contains("could not be read"))
    #expect(error.status == 401 && error.rejection == nil && !error.isSessionOver)
    #expect(bench.tokens.current().generation == 0)
    #expect(bench.events.all.isEmpty)
    // Calls during the cool-down get the same error, without a request to the server.
    #expect(await failure { try await api.send(hasty) }?.code == error.code)
    #expect(bench.refreshes == 1)
    bench.clock.advance(by: .seconds(1))
    let text = try await api.send(ping)
    #expect(text == "ok ")
    #expect(bench.refreshes == 2)
  }

  @Test("An overdue refresh fails the waiting calls; its late result is stored")
  func slow() async throws {
    let bench = RefreshBench()
    let gate = Gate()
    let api = bench.client(limit: .seconds(5)) { _ in
      try? await gate.wait()
      return Tokens(access: "access-1")
    }
    bench.expire()
    let call = Task { await failure { try await api.send(ping) } }
    try await gate.waitForArrivals(1)
    try await bench.clock.waitForSleepers(1)
    bench.clock.advance(by: .seconds(5))
    let error = try #require(await call.value)
    #expect(error.code == .timeout)
    #expect(error.detail == "the refresh took too long")
    gate.open()
    try await waitWhile(bench.tokens.current().generation == 0)
  }

  @Test("A refresh that never ends is given up after twice its limit, and a call can refresh after the cool-down")
  func endless() async throws {
    let bench = RefreshBench()
    let gate = Gate()
    let api = bench.client(limit: .seconds(5)) { refresh in
      if bench.clock.now >= MonotonicInstant(sinceStart: .seconds(11)) {
        return try await refresh.send(.newTokens(for: refresh.token))
      }
      try await gate.wait()
      return Tokens(access: "access-1")
    }
    bench.expire()
    let call = Task { await failure { try await api.send(ping) } }
    try await gate.waitForArrivals(1)
    for _ in 0..<2 {
      try await bench.clock.waitForSleepers(1)
      bench.clock.advance(by: .seconds(5))
      #expect(await call.value?.code == .timeout)
    }
    // The cancelled refresh failed temporarily.
    try await waitWhile { await failure({ try await api.send(hasty) })?.code == .timeout }
    bench.clock.advance(by: .seconds(1))
    let text = try await api.send(ping)
    #expect(text == "ok ")
    #expect(bench.refreshes == 1)
  }

  @Test(
    "A response without a usable token does not replace the stored tokens",
    arguments: ["", "two words", "t\u{F6}ken"])
  func unusable(token: String) async throws {
    let bench = RefreshBench()
    let api = bench.client()
    bench.expire()
    bench.replyToRefreshes(with: .json(#"{"access_token":"\#(token)"}"#), .json(#"{"refresh_token":"r"}"#))
    for _ in 0..<2 {
      let error = await failure { try await api.send(hasty) }
      #expect(error?.code == .malformedResponse && error?.requestState == .responded, "\(String(describing: error))")
      #expect(bench.tokens.current().generation == 0)
      bench.clock.advance(by: .seconds(2))
    }
    let text = try await api.send(ping)
    #expect(text == "ok ")
  }

  @Test("Tokens without a refresh token end the session when they are rejected")
  func nothingToRefreshWith() async throws {
    let bench = RefreshBench()
    bench.tokens.set(token: "access-only")
    let api = bench.client { try await $0.tokens(from: "/token") }
    let error = await failure { try await api.send(ping) }
    #expect(error?.code == .refused && error?.detail == "the session is over")
    #expect(bench.refreshes == 0 && bench.tokens.current().credential == nil)
    #expect(bench.events.all.count == 1)
  }

  @Test("New tokens that could not be stored are stored at the next refresh, without a second request")
  func unstored() async throws {
    let bench = RefreshBench()
    let shaky = ShakyStore(bench.tokens)
    var client = TestClient()
    client.environment.authentication = .bearer(shaky) { try await $0.send(.newTokens(for: $0.token)) }
    client.settings.runtime = Runtime(clock: bench.clock)
    let api = client.over(bench.stub)
    bench.expire()
    shaky.isBroken.withLock { $0 = true }
    #expect(await failure { try await api.send(hasty) } != nil)
    #expect(bench.tokens.current().generation == 0)
    shaky.isBroken.withLock { $0 = false }
    bench.clock.advance(by: .seconds(1))
    let text = try await api.send(ping)
    #expect(text == "ok ")
    #expect(bench.refreshes == 1)
  }

  @Test("A refresh closure can end the session itself")
  func ownRejection() async throws {
    let bench = RefreshBench()
    bench.expire()
    let api = bench.client { _ in throw RefreshRejection() }
    #expect(await failure { try await api.send(ping) } != nil)
    #expect(bench.tokens.current().credential == nil)
    #expect(bench.events.all.count == 1)
  }

  @Test("No description of a failure contains a token or refresh token")
  func secrets() async throws {
    let bench = RefreshBench()
    bench.tokens.set(Tokens(access: Secret(sentinel), refresh: Secret(sentinel)))
    let api = bench.client()
    for reply in [StubReply.status(500), .text(sentinel), .json("{\"access_token\":[\"\(sentinel)\"]}")] {
      bench.replyToRefreshes(with: reply)
      let error = try #require(await failure { try await api.send(hasty) })
      for text in [error.description, error.detail, error.message, "\(error.trace)", texts(of: error.trace)] {
        #expect(!text.contains(sentinel), "\(text)")
      }
      bench.clock.advance(by: .seconds(100))
    }
    let credential = try #require(bench.tokens.current().credential)
    #expect(!texts(of: credential).contains(sentinel))
    #expect(!texts(of: bench.tokens).contains(sentinel))
  }
}

/// A store that sometimes cannot write.
private final class ShakyStore: RefreshableCredentialsStore {
  struct Broken: Error {}

  let isBroken = Mutex(false)
  private let tokens: MemoryCredentialsStore

  init(_ tokens: MemoryCredentialsStore) {
    self.tokens = tokens
  }

  func current() -> StoredCredential { tokens.current() }
  func set(_ credential: Credential) { tokens.set(credential) }
  func clear() { tokens.clear() }

  func withLock(_ work: @Sendable () async throws -> Void) async throws {
    try await tokens.withLock(work)
  }

  func refresh(_ generation: UInt64, to credential: Credential?) throws -> Bool {
    if isBroken.withLock({ $0 }) { throw Broken() }
    return tokens.refresh(generation, to: credential)
  }
}

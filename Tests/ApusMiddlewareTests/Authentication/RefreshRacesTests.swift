import ApusCore
import ApusMiddleware
import ApusTesting
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@Suite("Refresh: races")
struct RefreshRacesTests {
  private let ping = Request<String>.get("/ping")
  private let gate = Gate()

  @Test("The cancellation of a call does not end the refresh, even if the call began the refresh")
  func cancelled() async throws {
    let bench = RefreshBench(gate: gate)
    let api = bench.client()
    bench.expire()
    let first = Task { try await api.send(ping) }
    try await gate.waitForArrivals(1)
    let second = Task { try await api.send(ping) }
    try await waitWhile(!api.calls.isWaitingForCredentials(2))
    first.cancel()
    let error = await failure { try await first.value }
    #expect(error?.code == .cancelled)
    gate.open()
    let text = try await second.value
    #expect(text == "ok ")
    #expect(bench.refreshes == 1)
    #expect(bench.tokens.current().generation == 1)
  }

  @Test("The result of a refresh is stored after all its calls have ended")
  func abandoned() async throws {
    let bench = RefreshBench(gate: gate)
    let api = bench.client()
    bench.expire()
    let call = Task { try await api.send(ping) }
    try await gate.waitForArrivals(1)
    call.cancel()
    #expect(await failure { try await call.value }?.code == .cancelled)
    gate.open()
    try await waitWhile(bench.tokens.current().generation == 0)
    let text = try await api.send(ping)
    #expect(text == "ok ")
    #expect(bench.refreshes == 1)
  }

  @Test("Calls that begin during a refresh wait for the refresh and are sent once")
  func during() async throws {
    let bench = RefreshBench(gate: gate)
    let api = bench.client()
    bench.expire()
    let first = Task { try await api.send(ping) }
    try await gate.waitForArrivals(1)
    let later = Task { try await api.response(to: ping) }
    try await waitWhile(!api.calls.isWaitingForCredentials(2))
    #expect(api.calls.all.count { $0.phase == .waiting } == 2)
    gate.open()
    _ = try await first.value
    let response = try await later.value
    #expect(response.value == "ok ")
    #expect(bench.authorizations == ["Bearer access-1", "Bearer access-2", "Bearer access-2"])
  }

  @Test("A call that is rejected late with the old token is resent with the new token, without a refresh")
  func late() async throws {
    let bench = RefreshBench()
    let lateGate = Gate()
    bench.stub.on(.get, "/v1/late", replies: [.status(401).waiting(for: lateGate), .text("in time")])
    let api = bench.client()
    let late = Task { try await api.send(Request<String>.get("/late")) }
    try await lateGate.waitForArrivals(1)
    bench.expire()
    _ = try await api.send(ping)
    #expect(bench.refreshes == 1)
    lateGate.open()
    let text = try await late.value
    #expect(text == "in time")
    #expect(bench.refreshes == 1)
    #expect(
      bench.exchanges.filter { $0.target == "/v1/late" }.map { $0.fields[.authorization] } == [
        "Bearer access-1", "Bearer access-2",
      ])
  }

  @Test("A refresh does not undo a sign-out, and waiting calls end immediately")
  func signedOut() async throws {
    let bench = RefreshBench(gate: gate)
    let store = RecordingStore(bench.tokens)
    let api = bench.client(over: store)
    bench.expire()
    let call = Task { try await api.send(ping) }
    try await gate.waitForArrivals(1)
    try await api.signOut()
    let error = await failure { try await call.value }
    #expect(error?.underlying is PrincipalChangedError && error?.requestState == .responded)
    gate.open()
    // The tokens of the refresh arrive too late.
    try await waitWhile(store.replacements.all.isEmpty)
    #expect(store.replacements.all == [false])
    #expect(bench.tokens.current().credential == nil)
    let other = await failure { try await api.send(ping) }
    #expect(other?.status == 401)
    #expect(bench.authorizations.last == .some(nil))
    #expect(bench.refreshes == 1)
  }

  @Test("A failed sign-out reports no end of the session and does not end waiting calls")
  func failingSignOut() async throws {
    let bench = RefreshBench(gate: gate)
    let store = RecordingStore(bench.tokens)
    let api = bench.client(over: store)
    bench.expire()
    let call = Task { try await api.send(ping) }
    try await gate.waitForArrivals(1)
    store.isFailing.withLock { $0 = true }
    await #expect(throws: RecordingStore.ClearError.self) { try await api.signOut() }
    gate.open()
    let text = try await call.value
    #expect(text == "ok ")
    #expect(bench.events.all.isEmpty)
  }

  @Test("A waiting call ends at its deadline, and cancelAll() does not cancel the refresh")
  func deadlines() async throws {
    let bench = RefreshBench(gate: gate)
    let api = bench.client()
    bench.expire()
    let patient = Task { try await api.send(ping) }
    try await gate.waitForArrivals(1)
    let hasty = Task { await failure { try await api.send(ping.timeout(.seconds(3))) } }
    try await waitWhile(!api.calls.isWaitingForCredentials(2))
    bench.clock.advance(by: .seconds(3))
    let error = await hasty.value
    #expect(error?.code == .timeout && error?.phase == .waiting)
    #expect(api.calls.cancelAll() == 1)
    #expect(await failure { try await patient.value }?.code == .cancelled)
    gate.open()
    try await waitWhile(bench.tokens.current().generation == 0)
    let text = try await api.send(ping)
    #expect(text == "ok ")
    #expect(bench.refreshes == 1)
  }

  @Test("Two clients with one authentication make one refresh, and each reports the end of the session")
  func clients() async throws {
    let bench = RefreshBench(gate: gate)
    let authentication = Authentication.bearer(bench.tokens) { try await $0.send(.newTokens(for: $0.token)) }
    let (first, second) = (bench.client(with: authentication), bench.client(with: authentication))
    bench.expire()
    bench.replyToRefreshes(with: .json(#"{"error":"invalid_grant"}"#, status: 400))
    let calls = [first, first, second, second].map { api in Task { await failure { try await api.send(ping) } } }
    try await gate.waitForArrivals(1)
    try await waitWhile(!(first.calls.isWaitingForCredentials(2) && second.calls.isWaitingForCredentials(2)))
    gate.open()
    for call in calls { #expect(await call.value?.sessionEnd == .expired) }
    #expect(bench.refreshes == 1)
    #expect(bench.events.all.count == 2)
  }

  @Test("Two authentications with one store refresh one after the other, and the second finds the new tokens")
  func twoRefreshers() async throws {
    let bench = RefreshBench(gate: gate)
    let (first, second) = (bench.client(), bench.client())
    bench.expire()
    let firstCall = Task { try await first.send(ping) }
    try await gate.waitForArrivals(1)
    let secondCall = Task { try await second.send(ping) }
    try await waitWhile(!second.calls.isWaitingForCredentials(1))
    gate.open()
    let texts = try await [firstCall.value, secondCall.value]
    #expect(texts == ["ok ", "ok "])
    #expect(bench.refreshes == 1)
  }

  @Test("An authentication in another server's environment never sends its refresh token there")
  func elsewhere() async throws {
    let bench = RefreshBench()
    let api = bench.client()
    _ = try await api.send(ping)
    var other = Environment("other", baseURL: "https://other.example/v1")
    other.authentication = api.environment.authentication
    api.use(other)
    bench.expire()
    #expect(await failure { try await api.send(ping) }?.status == 401)
    #expect(bench.refreshes == 0)
    #expect(bench.events.all.map(\.generation) == [0])
  }

  @Test("After a sign-in of another account, calls of the former account are not sent")
  func signedIn() async throws {
    let bench = RefreshBench(gate: gate)
    let api = bench.client()
    bench.expire()
    let call = Task { try await api.send(Request<String>.post("/mine", content: .text("secret of one"))) }
    try await gate.waitForArrivals(1)
    bench.tokens.set(Tokens(access: "of two"))
    gate.open()
    #expect(await failure { try await call.value }?.underlying is PrincipalChangedError)
    #expect(bench.authorizations == ["Bearer access-1"])
    #expect(bench.tokens.current().credential == .tokens(Tokens(access: "of two")))
  }

  @Test("Ageing tokens are refreshed in the background; calls wait only if the tokens have expired")
  func early() async throws {
    let bench = RefreshBench(gate: gate, lifetime: .seconds(100))
    let api = bench.client()
    _ = try await api.send(ping)
    bench.clock.advance(by: .seconds(80))
    _ = try await api.send(ping)
    #expect(bench.refreshes == 0)
    bench.clock.advance(by: .seconds(15))
    // The server accepts the old token until it has issued a new token, which the gate delays.
    _ = try await api.send(ping)
    #expect(bench.authorizations.last == "Bearer access-1")
    gate.open()
    try await waitWhile(bench.tokens.current().generation == 0)
    #expect(bench.refreshes == 1)
    bench.clock.advance(by: .seconds(101))
    _ = try await api.send(ping)
    #expect(bench.refreshes == 2)
    // No call was rejected.
    #expect(bench.authorizations == ["Bearer access-1", "Bearer access-1", "Bearer access-1", "Bearer access-3"])
  }
}

/// A store that records refreshes, and that can fail when it is cleared.
private final class RecordingStore: RefreshableCredentialsStore {
  struct ClearError: Error {}

  let replacements = Log<Bool>()
  let isFailing = Mutex(false)
  private let tokens: MemoryCredentialsStore

  init(_ tokens: MemoryCredentialsStore) {
    self.tokens = tokens
  }

  func current() -> StoredCredential { tokens.current() }
  func set(_ credential: Credential) { tokens.set(credential) }

  func clear() throws {
    if isFailing.withLock({ $0 }) { throw ClearError() }
    tokens.clear()
  }

  func withLock(_ work: @Sendable () async throws -> Void) async throws {
    try await tokens.withLock(work)
  }

  func refresh(_ generation: UInt64, to credential: Credential?) -> Bool {
    let isReplaced = tokens.refresh(generation, to: credential)
    replacements.add(isReplaced)
    return isReplaced
  }
}

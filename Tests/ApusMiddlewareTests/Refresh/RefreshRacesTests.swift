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

  @Test("A cancelled call does not end the refresh, not even the one that began it")
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

  @Test("Calls that begin during a refresh wait for it and are sent once")
  func held() async throws {
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

  @Test("A call rejected late with the old token is sent again with the new one, without a refresh")
  func late() async throws {
    let bench = RefreshBench()
    let held = Gate()
    bench.stub.on(.get, "/v1/late", replies: [.status(401).waiting(for: held), .text("in time")])
    let api = bench.client()
    let late = Task { try await api.send(Request<String>.get("/late")) }
    try await held.waitForArrivals(1)
    bench.expire()
    _ = try await api.send(ping)
    #expect(bench.refreshes == 1)
    held.open()
    let text = try await late.value
    #expect(text == "in time")
    #expect(bench.refreshes == 1)
    #expect(
      bench.exchanges.filter { $0.target == "/v1/late" }.map { $0.fields[.authorization] } == [
        "Bearer access-1", "Bearer access-2",
      ])
  }

  @Test("A refresh does not undo a sign-out, and waiting calls end at once")
  func signedOut() async throws {
    let bench = RefreshBench(gate: gate)
    let source = WatchedSource(bench.tokens)
    let api = bench.client(over: source)
    bench.expire()
    let call = Task { try await api.send(ping) }
    try await gate.waitForArrivals(1)
    try await api.signOut()
    let error = await failure { try await call.value }
    #expect(error?.underlying is PrincipalChangedError && error?.requestState == .responded)
    gate.open()
    // What the refresh gives comes too late.
    try await waitWhile(source.replacements.all.isEmpty)
    #expect(source.replacements.all == [false])
    #expect(bench.tokens.current().credential == nil)
    let other = await failure { try await api.send(ping) }
    #expect(other?.status == 401)
    #expect(bench.authorizations.last == .some(nil))
    #expect(bench.refreshes == 1)
  }

  @Test("A sign-out is no second end of a session, and a failed one does not end waiting calls")
  func failingSignOut() async throws {
    let bench = RefreshBench(gate: gate)
    let source = WatchedSource(bench.tokens)
    let api = bench.client(over: source)
    bench.expire()
    let call = Task { try await api.send(ping) }
    try await gate.waitForArrivals(1)
    source.isStuck.withLock { $0 = true }
    await #expect(throws: WatchedSource.Stuck.self) { try await api.signOut() }
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

  @Test("Two clients with one authentication make one refresh, and both apps are told of the end of the session")
  func clients() async throws {
    let bench = RefreshBench(gate: gate)
    let authentication = Authentication.bearer(bench.tokens) { try await $0.send(.newTokens(for: $0.token)) }
    let (first, second) = (bench.client(with: authentication), bench.client(with: authentication))
    bench.expire()
    bench.refuse(.json(#"{"error":"invalid_grant"}"#, status: 400))
    let calls = [first, first, second, second].map { api in Task { await failure { try await api.send(ping) } } }
    try await gate.waitForArrivals(1)
    try await waitWhile(!(first.calls.isWaitingForCredentials(2) && second.calls.isWaitingForCredentials(2)))
    gate.open()
    for call in calls { #expect(await call.value?.sessionEnd == .expired) }
    #expect(bench.refreshes == 1)
    #expect(bench.events.all.count == 2)
  }

  @Test("Two authentications with one store refresh one after the other, and the second finds it done")
  func twoRefreshers() async throws {
    let bench = RefreshBench(gate: gate)
    let (first, second) = (bench.client(), bench.client())
    bench.expire()
    let one = Task { try await first.send(ping) }
    try await gate.waitForArrivals(1)
    let two = Task { try await second.send(ping) }
    try await waitWhile(!second.calls.isWaitingForCredentials(1))
    gate.open()
    let texts = try await [one.value, two.value]
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

  @Test("After a sign-in of another account, calls of the former one are not sent")
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

  @Test("Ageing tokens are refreshed in the background; calls wait only for expired ones")
  func early() async throws {
    let bench = RefreshBench(gate: gate, lifetime: .seconds(100))
    let api = bench.client()
    _ = try await api.send(ping)
    bench.clock.advance(by: .seconds(80))
    _ = try await api.send(ping)
    #expect(bench.refreshes == 0)
    bench.clock.advance(by: .seconds(15))
    // The server takes the old tokens until it has given new ones: it is held back.
    _ = try await api.send(ping)
    #expect(bench.authorizations.last == "Bearer access-1")
    gate.open()
    try await waitWhile(bench.tokens.current().generation == 0)
    #expect(bench.refreshes == 1)
    bench.clock.advance(by: .seconds(101))
    _ = try await api.send(ping)
    #expect(bench.refreshes == 2)
    // None of them was ever refused.
    #expect(bench.authorizations == ["Bearer access-1", "Bearer access-1", "Bearer access-1", "Bearer access-3"])
  }
}

/// A store that records refreshes, and can block when it is cleared.
private final class WatchedSource: RefreshableCredentialsStore {
  struct Stuck: Error {}

  let replacements = Log<Bool>()
  let isStuck = Mutex(false)
  private let tokens: MemoryCredentialsStore

  init(_ tokens: MemoryCredentialsStore) {
    self.tokens = tokens
  }

  func current() -> StoredCredential { tokens.current() }
  func set(_ credential: Credential) { tokens.set(credential) }

  func clear() throws {
    if isStuck.withLock({ $0 }) { throw Stuck() }
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

import ApusCore
import ApusMiddleware
import ApusTesting
import HTTPTypes
import Synchronization
import TestSupport
import Testing

/// A source whose reports are sent by a test.
private final class ToldSource: ConnectivitySource {
  private struct State {
    var report: (@Sendable (ConnectivityStatus) -> Void)?
    var stops = 0
  }

  private let state = Mutex(State())

  var stops: Int { state.withLock { $0.stops } }

  func start(_ report: @escaping @Sendable (ConnectivityStatus) -> Void) {
    state.withLock { $0.report = report }
  }

  func stop() {
    state.withLock { $0.stops += 1 }
  }

  func tell(_ status: ConnectivityStatus) {
    let report = state.withLock { $0.report }
    report?(status)
  }
}

/// A middleware that passes every message on as the second attempt.
private struct SecondAttempt: Middleware {
  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    var context = context
    context.attempt = 2
    return try await next(request, context: context)
  }
}

@Suite("Connectivity: whole calls")
struct ConnectivityMiddlewareTests {
  private let clock = ManualClock(.manual)
  private let stub = StubTransport.answering()
  private let source = ToldSource()
  private let connectivity: Connectivity
  private let offline = StubReply.failure(TransportError(.offline, requestState: .notSent))

  init() {
    connectivity = Connectivity(source)
  }

  private func api(
    _ policy: ConnectivityPolicy = .pauseRetries, timeout: Duration? = nil, isRetried: Bool = false
  ) -> Client {
    var client = TestClient()
    client.timeout = timeout
    client.settings.runtime.clock = clock
    client.customize = { [connectivity] in
      if isRetried { $0.insert(SecondAttempt(), .after(.retry)) }
      $0.insert(ConnectivityMiddleware(connectivity, policy), .before(.scheduling))
    }
    return client.over(stub)
  }

  @Test("A failFast call fails immediately while offline, and occasionally a call is sent as a probe")
  func failFast() async throws {
    let api = api(.failFast)
    source.tell(.offline)
    let error = try #require(await failure { try await api.send(.ping) })
    #expect(error.code == .offline && error.requestState == .notSent)
    #expect(error.trace.description.contains("not sent, the device is offline"))
    #expect(stub.exchanges.isEmpty)
    clock.advance(by: .seconds(30))
    try await api.send(.ping)
    #expect(connectivity.status == .online)
  }

  @Test("A call that waits for a network is sent when the network is available")
  func wait() async throws {
    let api = api()
    source.tell(.offline)
    let call = Task { try await api.response(to: .ping.connectivity(.wait)).trace }
    try await clock.waitForSleepers(1)
    #expect(connectivity.waitingCount == 1)
    clock.advance(by: .seconds(3))
    source.tell(.online)
    #expect(try await call.value.description.contains("waited for a network, ms: 3000"))
    #expect(clock.sleepers == 0)
  }

  @Test("A call waits for a network only until its deadline")
  func deadline() async throws {
    let api = api(.wait, timeout: .seconds(10))
    source.tell(.offline)
    async let outcome = failure { try await api.send(.ping) }
    try await clock.waitForSleepers(2)
    clock.advance(by: .seconds(10))
    let error = try #require(await outcome)
    #expect(error.code == .timeout && error.phase == .waiting && error.requestState == .notSent)
    #expect(connectivity.waitingCount == 0)
    #expect(stub.exchanges.isEmpty)
  }

  @Test("A call that itself detects the lack of a network waits, and its timeout names the reason")
  func deadlineAfterTrying() async throws {
    let api = api(.wait, timeout: .milliseconds(500))
    stub.onAny(reply: offline)
    async let outcome = failure { try await api.send(.ping) }
    try await clock.waitForSleepers(2)
    clock.advance(by: .milliseconds(500))
    let error = try #require(await outcome)
    #expect(error.code == .timeout && error.phase == .waiting && error.requestState == .notSent)
    #expect("\(error)".contains("waited for a network"))
    #expect(stub.exchanges.count == 1 && connectivity.waitingCount == 0)
  }

  @Test("A cancelled call that waited for a network leaks nothing")
  func cancelled() async throws {
    let api = api(.wait)
    source.tell(.offline)
    let call = Task { await failure { try await api.send(.ping) } }
    try await clock.waitForSleepers(1)
    call.cancel()
    #expect(await call.value?.code == .cancelled)
    #expect(connectivity.waitingCount == 0)
    #expect(api.calls.isEmpty)
  }

  @Test("Without a source, failed calls set the status to offline, then calls wait and probe one at a time")
  func outcomes() async throws {
    let api = api(.wait)
    stub.onAny(reply: offline)
    let calls = (0..<3).map { _ in Task { await failure { try await api.send(.ping) } } }
    try await waitWhile(connectivity.waitingCount < 3)
    for _ in 0..<2 {
      try await clock.waitForSleepers(1)
      let count = stub.exchanges.count
      clock.advanceToNextWake()
      try await stub.waitForExchanges(count + 1)
      try await waitWhile(connectivity.waitingCount < 3)
      #expect(stub.exchanges.count == count + 1)
    }
    #expect(connectivity.status == .offline)
    stub.onAny(reply: .status(204))
    source.tell(.online)
    for call in calls { #expect(await call.value == nil) }
  }

  @Test("A call that repeatedly finds no network waits longer each time, even if other calls succeed")
  func unreachableAmongOthers() async throws {
    let api = api(.wait)
    stub.on(.get, "/v1/away", reply: offline)
    let call = Task { await failure { try await api.send(Request<Void>.get("/away")) } }
    try await clock.waitForSleepers(1)
    source.tell(.online)
    try await stub.waitForExchanges(2)
    try await clock.waitForSleepers(1)
    for (tries, pause) in [(2, 1), (3, 2), (4, 4)] {
      source.tell(.online)
      try await clock.waitForSleepers(1)
      clock.advance(by: .milliseconds(pause * 1000 - 1))
      #expect(stub.exchanges.count == tries)
      clock.advance(by: .milliseconds(1))
      try await clock.waitForSleepers(1)
      #expect(stub.exchanges.count == tries + 1)
    }
    call.cancel()
    #expect(await call.value?.code == .cancelled)
  }

  @Test("An unreachable IPv6 address does not make other calls wait")
  func unreachableIPv6Address() async throws {
    stub.onAny(reply: offline)
    var client = TestClient("http://[2001:db8::1]:8080")
    client.settings.runtime.clock = clock
    client.customize = { [connectivity] in $0.insert(ConnectivityMiddleware(connectivity, .wait), .before(.scheduling))
    }
    // The call does not wait, because the status does not become offline.
    let distant = client.over(stub)
    #expect(await failure { try await distant.send(.ping) }?.code == .offline)
    #expect(connectivity.status == .unknown)
    stub.onAny(reply: .status(204))
    try await api(.failFast).send(.ping)
    stub.onAny(reply: offline)
    #expect(await failure { try await api(.failFast).send(.ping) }?.code == .offline)
    #expect(connectivity.status == .offline)
  }

  @Test("A failFast call is not retried, and its error has the platform's cause")
  func failsOnce() async throws {
    struct Unreachable: Error {}
    stub.onAny(reply: .failure(TransportError(.offline, requestState: .notSent, underlying: Unreachable())))
    var client = TestClient()
    client.settings.runtime.clock = clock
    client.customize = { [connectivity] in
      $0.insert(RetryMiddleware(), .after(.retry))
      $0.insert(ConnectivityMiddleware(connectivity, .failFast), .before(.scheduling))
    }
    let api = client.over(stub)
    let error = try #require(await failure { try await api.send(.ping) })
    #expect(error.code == .offline && error.underlying is Unreachable)
    #expect(error.failedAttempts.map(\.decision) == [.giveUp(.notTemporary)])
    #expect(stub.exchanges.count == 1)
    let once = try #require(await failure { try await api.send(.ping.retry(.none)) })
    #expect(once.code == .offline && once.underlying == nil)
  }

  @Test("With pauseRetries the first attempt is sent, and retries wait")
  func pauseRetries() async throws {
    source.tell(.offline)
    stub.onAny(reply: offline)
    #expect(await failure { try await api().send(.ping) }?.code == .offline)
    #expect(stub.exchanges.count == 1)
    let again = api(isRetried: true)
    let call = Task { try await again.send(.ping) }
    try await clock.waitForSleepers(1)
    #expect(stub.exchanges.count == 1)
    stub.onAny(reply: .status(204))
    source.tell(.unknown)
    try await call.value
  }

  @Test("Shared work never waits for a network")
  func sharedWork() async throws {
    source.tell(.offline)
    let api = api(.failFast, isRetried: true)
    try await api.send(.ping.setting(SharedWorkKey.self, true))
    #expect(connectivity.status == .online)
  }

  @Test("A response with any status is evidence of a network; a failure without a response is no evidence")
  func findings() async throws {
    let api = api(.wait)
    for kind in [CallError.Code.connectionFailed, .hostNotFound, .tls, .connectionLost, .timeout] {
      stub.onAny(reply: .failure(TransportError(kind, requestState: .notSent)))
      _ = await failure { try await api.send(.ping) }
      #expect(connectivity.status == .unknown)
    }
    stub.onAny(reply: .status(500))
    _ = await failure { try await api.send(.ping) }
    #expect(connectivity.status == .online)
  }

  @Test("Observers receive the connectivity status and each change, until the object is released")
  func observing() async {
    let source = ToldSource()
    var connectivity: Connectivity? = Connectivity(source)
    var statuses = connectivity?.statuses.makeAsyncIterator()
    let first = await statuses?.next()
    source.tell(.offline)
    let second = await statuses?.next()
    source.tell(.offline)
    source.tell(.online)
    let third = await statuses?.next()
    #expect([first, second, third] == [.unknown, .offline, .online])
    connectivity = nil
    let last = await statuses?.next()
    #expect(last == nil)
    #expect(source.stops == 1)
    source.tell(.offline)
  }

  @Test("Creating a message without sending it does not wait for a network")
  func described() async throws {
    source.tell(.offline)
    #expect(try await api(.failFast).message(for: .ping).target == "/v1/ping")
    #expect(connectivity.status == .offline)
  }
}

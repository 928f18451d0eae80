import ApusCore
import ApusMiddleware
import ApusTesting
import HTTPTypes
import TestSupport
import Testing

@Suite("Refresh: cool-downs")
struct RefreshCoolDownTests {
  private let ping = Request<String>.get("/ping")
  private let lost = StubReply.failure(TransportError(.connectionLost, requestState: .maybeSent))

  @Test("Failures 50 seconds apart, with accepted calls in between, have a cool-down of one second each")
  func incidents() async throws {
    let bench = RefreshBench()
    let api = bench.client()
    for incident in 0..<6 {
      // The token is refused, and so is the one that the refresh gives.
      bench.deny(2)
      #expect(await failure { try await api.send(ping) }?.status == 401)
      #expect(bench.refreshes == 2 * incident + 1)
      // There is no refresh within the cool-down.
      bench.deny(1)
      #expect(await failure { try await api.send(ping) }?.status == 401)
      #expect(bench.refreshes == 2 * incident + 1)
      bench.clock.advance(by: .seconds(1))
      bench.deny(1)
      let text = try await api.send(ping)
      #expect(text == "ok ")
      #expect(bench.refreshes == 2 * incident + 2)
      bench.clock.advance(by: .seconds(49))
    }
  }

  @Test("After a lost refresh, calls with a second to wait succeed with one further refresh")
  func waitsOut() async throws {
    let bench = RefreshBench()
    let api = bench.client()
    bench.expire()
    bench.refuse(lost)
    let calls = (0..<20).map { _ in Task { try await api.send(ping.timeout(.seconds(10))) } }
    try await waitWhile(api.calls.all.count(where: \.isResting) < 20)
    #expect(bench.refreshes == 1)
    bench.clock.advance(by: .seconds(1))
    for call in calls {
      let text = try await call.value
      #expect(text == "ok ")
    }
    #expect(bench.refreshes == 2)
  }

  @Test("A call with less time than the cool-down fails at once, with the reason")
  func tooLate() async throws {
    let bench = RefreshBench()
    let api = bench.client()
    bench.expire()
    bench.refuse(lost)
    for _ in 0..<2 {
      let error = try #require(await failure { try await api.send(ping.timeout(.milliseconds(900))) })
      #expect(error.code == .connectionLost && (error.underlying as? CallError)?.code == .connectionLost, "\(error)")
    }
    #expect(bench.refreshes == 1)
  }

  @Test("A call waits for at most three cool-downs, and never for a long one")
  func bounded() async throws {
    let bench = RefreshBench()
    let api = bench.client()
    bench.expire()
    bench.refuse(lost, lost, lost, lost, lost)
    let call = Task { await failure { try await api.send(ping) } }
    for (count, pause) in [1, 2, 4].enumerated() {
      try await waitWhile(!api.calls.all.contains(where: { $0.restCount == count + 1 }))
      bench.clock.advance(by: .seconds(pause))
    }
    #expect(await call.value?.code == .connectionLost)
    #expect(bench.refreshes == 4)
    // Eight seconds are too long.
    #expect(await failure { try await api.send(ping) }?.code == .connectionLost)
    #expect(bench.refreshes == 4)
  }

  @Test("A change of account during a cool-down ends the call, and it is not sent")
  func changes() async throws {
    let bench = RefreshBench()
    let api = bench.client()
    bench.expire()
    bench.refuse(lost)
    let call = Task { await failure { try await api.send(ping) } }
    try await waitWhile(!api.calls.all.contains(where: \.isResting))
    bench.tokens.set(Tokens(access: "of another"))
    bench.clock.advance(by: .seconds(1))
    #expect(await call.value?.underlying is PrincipalChangedError)
    #expect(bench.authorizations == ["Bearer access-1"])
    #expect(bench.refreshes == 1)
  }

  @Test(
    "A lost refresh is retried at once only if its endpoint is declared idempotent",
    arguments: [true, false])
  func repeated(isIdempotent: Bool) async throws {
    let bench = RefreshBench()
    bench.expire()
    bench.refuse(lost)
    var client = TestClient()
    client.environment.authentication = .bearer(bench.tokens) { refresh in
      let endpoint = Request<Tokens>.newTokens(for: refresh.token).retry(
        RetryPolicy(maximumAttempts: 2, baseDelay: .zero))
      return try await refresh.send(isIdempotent ? endpoint.idempotent() : endpoint)
    }
    client.settings.runtime = Runtime(clock: bench.clock)
    client.customize = { $0.insert(RetryMiddleware(), .after(.retry)) }
    let api = client.over(bench.stub)
    let call = Task { await failure { try await api.send(ping) } }
    if !isIdempotent {
      // It waits for the cool-down like any other call.
      try await waitWhile(!api.calls.all.contains(where: \.isResting))
      #expect(bench.refreshes == 1)
      bench.clock.advance(by: .seconds(1))
    }
    #expect(await call.value == nil)
    #expect(bench.refreshes == 2)
  }

  @Test("The refresh call uses a new connection, other calls do not")
  func newConnection() async throws {
    let bench = RefreshBench()
    let asked = Log<String>()
    bench.expire()
    var client = TestClient()
    client.environment.authentication = .bearer(bench.tokens) { try await $0.send(.newTokens(for: $0.token)) }
    client.customize = { $0.insert(Noting(asked: asked), .before(.transport)) }
    let text = try await client.over(bench.stub).send(ping)
    #expect(text == "ok ")
    #expect(asked.all == ["/v1/ping false", "/v1/token true", "/v1/ping false"])
  }
}

/// Notes which messages ask for a new connection.
private struct Noting: Middleware {
  let asked: Log<String>

  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    asked.add("\(request.target) \(context.values[NewConnectionKey.self])")
    return try await next(request, context: context)
  }
}

extension CallEntry {
  /// How often the call has begun to wait until the token endpoint may be asked again.
  fileprivate var restCount: Int {
    trace.events.count { event in
      if case .note(let note, _) = event.kind { return note == "waits to refresh again, ms" }
      return false
    }
  }

  fileprivate var isResting: Bool { restCount > 0 }
}

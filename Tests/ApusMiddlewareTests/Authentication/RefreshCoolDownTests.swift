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

  @Test("Rejections 50 seconds apart, with accepted calls in between, start a cool-down of one second each")
  func incidents() async throws {
    let bench = RefreshBench()
    let api = bench.client()
    for incident in 0..<6 {
      // The server rejects the token and the refreshed token.
      bench.reject(2)
      #expect(await failure { try await api.send(ping) }?.status == 401)
      #expect(bench.refreshes == 2 * incident + 1)
      // There is no refresh within the cool-down.
      bench.reject(1)
      #expect(await failure { try await api.send(ping) }?.status == 401)
      #expect(bench.refreshes == 2 * incident + 1)
      bench.clock.advance(by: .seconds(1))
      bench.reject(1)
      let text = try await api.send(ping)
      #expect(text == "ok ")
      #expect(bench.refreshes == 2 * incident + 2)
      bench.clock.advance(by: .seconds(49))
    }
  }

  @Test("After a lost refresh, calls that can wait a second succeed with one further refresh")
  func oneMoreRefresh() async throws {
    let bench = RefreshBench()
    let api = bench.client()
    bench.expire()
    bench.replyToRefreshes(with: lost)
    let calls = (0..<20).map { _ in Task { try await api.send(ping.timeout(.seconds(10))) } }
    try await waitWhile(api.calls.all.count(where: \.isCoolingDown) < 20)
    #expect(bench.refreshes == 1)
    bench.clock.advance(by: .seconds(1))
    for call in calls {
      let text = try await call.value
      #expect(text == "ok ")
    }
    #expect(bench.refreshes == 2)
  }

  @Test("A call whose timeout is shorter than the cool-down fails immediately with the error of the refresh")
  func tooLate() async throws {
    let bench = RefreshBench()
    let api = bench.client()
    bench.expire()
    bench.replyToRefreshes(with: lost)
    for _ in 0..<2 {
      let error = try #require(await failure { try await api.send(ping.timeout(.milliseconds(900))) })
      #expect(error.code == .connectionLost && (error.underlying as? CallError)?.code == .connectionLost, "\(error)")
    }
    #expect(bench.refreshes == 1)
  }

  @Test("A call waits for at most three cool-downs, and for no cool-down of eight seconds")
  func bounded() async throws {
    let bench = RefreshBench()
    let api = bench.client()
    bench.expire()
    bench.replyToRefreshes(with: lost, lost, lost, lost, lost)
    let call = Task { await failure { try await api.send(ping) } }
    for (count, pause) in [1, 2, 4].enumerated() {
      try await waitWhile(!api.calls.all.contains(where: { $0.coolDownCount == count + 1 }))
      bench.clock.advance(by: .seconds(pause))
    }
    #expect(await call.value?.code == .connectionLost)
    #expect(bench.refreshes == 4)
    // The next cool-down lasts eight seconds.
    #expect(await failure { try await api.send(ping) }?.code == .connectionLost)
    #expect(bench.refreshes == 4)
  }

  @Test("A call whose account changes during a cool-down ends without being sent")
  func changes() async throws {
    let bench = RefreshBench()
    let api = bench.client()
    bench.expire()
    bench.replyToRefreshes(with: lost)
    let call = Task { await failure { try await api.send(ping) } }
    try await waitWhile(!api.calls.all.contains(where: \.isCoolingDown))
    bench.tokens.set(Tokens(access: "other account"))
    bench.clock.advance(by: .seconds(1))
    #expect(await call.value?.underlying is PrincipalChangedError)
    #expect(bench.authorizations == ["Bearer access-1"])
    #expect(bench.refreshes == 1)
  }

  @Test(
    "A lost refresh is retried immediately only if its endpoint is declared idempotent",
    arguments: [true, false])
  func repeated(isIdempotent: Bool) async throws {
    let bench = RefreshBench()
    bench.expire()
    bench.replyToRefreshes(with: lost)
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
      // The call waits for the cool-down.
      try await waitWhile(!api.calls.all.contains(where: \.isCoolingDown))
      #expect(bench.refreshes == 1)
      bench.clock.advance(by: .seconds(1))
    }
    #expect(await call.value == nil)
    #expect(bench.refreshes == 2)
  }

  @Test("A refresh call uses a new connection, whereas an ordinary call does not")
  func newConnection() async throws {
    let bench = RefreshBench()
    let recorded = Log<String>()
    bench.expire()
    var client = TestClient()
    client.environment.authentication = .bearer(bench.tokens) { try await $0.send(.newTokens(for: $0.token)) }
    client.customize = { $0.insert(ConnectionRecorder(recorded: recorded), .before(.transport)) }
    let text = try await client.over(bench.stub).send(ping)
    #expect(text == "ok ")
    #expect(recorded.all == ["/v1/ping false", "/v1/token true", "/v1/ping false"])
  }
}

/// A middleware that records whether messages request a new connection.
private struct ConnectionRecorder: Middleware {
  let recorded: Log<String>

  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    recorded.add("\(request.target) \(context.values[NewConnectionKey.self])")
    return try await next(request, context: context)
  }
}

extension CallEntry {
  /// The number of cool-downs that the call has waited for, the present one included.
  fileprivate var coolDownCount: Int {
    trace.events.count { event in
      if case .note(let note, _) = event.kind { return note == "waits to refresh again, ms" }
      return false
    }
  }

  fileprivate var isCoolingDown: Bool { coolDownCount > 0 }
}

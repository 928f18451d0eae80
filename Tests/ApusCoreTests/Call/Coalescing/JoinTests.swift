import ApusCore
import ApusTesting
import HTTPTypes
import Synchronization
import TestSupport
import Testing

private struct User: Codable, Sendable, Equatable { var id: Int }
private struct Name: Codable, Sendable, Equatable { var name: String }

@Suite("Calls that join an exchange by id")
struct JoinTests {
  private let bench = CallBench()
  private let gate = Gate()

  private func request(_ path: RequestPath = "/user") -> Request<String> {
    .get(path).id("one", onDuplicate: .coalesce)
  }

  private func start(_ request: Request<String>) -> Task<Result<String, CallError>, Never> {
    Task { [bench] in await bench.api.result(of: request) }
  }

  /// Starts calls and waits until all of them share one exchange.
  private func join(_ requests: Request<String>...) async throws -> [Task<Result<String, CallError>, Never>] {
    let calls = requests.map { start($0) }
    try await gate.waitForArrivals(1)
    try await waitForJoined(requests.count - 1)
    return calls
  }

  private func waitForJoined(_ count: Int) async throws {
    try await waitWhile(bench.log.events.count { $0.hasPrefix("coalesced") } < count)
  }

  @Test("In a pipeline without coalescing each call has its own exchange")
  func withoutCoalescing() async throws {
    let stub = StubTransport()
    stub.onAny(reply: .text("ok").waiting(for: gate))
    let api = Client(environment: Environment(baseURL: "https://x.test"), pipeline: [:], transport: stub)
    async let first = api.send(request())
    async let second = api.send(request())
    try await gate.waitForArrivals(2)
    gate.open()
    #expect(try await [first, second] == ["ok", "ok"])
    #expect(stub.exchanges.count == 2)
  }

  @Test("Calls that join share one exchange, and each has its own trace")
  func oneExchange() async throws {
    bench.stub.onAny(reply: .text("ok", fields: [.eTag: "\"v1\""]).waiting(for: gate))
    let calls = try await join(request(), request(), request())
    #expect(bench.api.calls.calls(id: "one").count == 3)
    let response = Task { [bench] in try await bench.api.response(to: request()) }
    try await waitForJoined(3)
    gate.open()
    for call in calls { #expect(try await call.value.get() == "ok") }
    let head = try await response.value.head
    #expect(head.status == .ok)
    #expect(head.headerFields[.eTag] == "\"v1\"")
    #expect(bench.stub.exchanges.count == 1)
    #expect(bench.log.ends.map(\.kind) == Array(repeating: .succeeded, count: 4))
    #expect(bench.isClean)
  }

  @Test("Calls that share an exchange decode separately: one call may fail while the other call succeeds")
  func ownDecoding() async throws {
    bench.stub.onAny(reply: .json(#"{"id":7}"#).waiting(for: gate))
    let user = Task { [bench] in
      await bench.api.result(of: Request<User>.get("/user").id("one", onDuplicate: .coalesce))
    }
    try await gate.waitForArrivals(1)
    let name = Task { [bench] in
      await bench.api.result(of: Request<Name>.get("/user").id("one", onDuplicate: .coalesce))
    }
    try await waitWhile(!bench.log.events.contains(where: { $0.hasPrefix("coalesced") }))
    gate.open()
    #expect(try await user.value.get() == User(id: 7))
    #expect(await name.value.error?.code == .decoding)
    #expect(bench.stub.exchanges.count == 1)
  }

  @Test("A failure or a rejection reaches every call that joined")
  func failures() async throws {
    let failure = StubReply.failure(TransportError(.connectionLost, requestState: .maybeSent))
    for (answer, code) in [(failure, CallError.Code.connectionLost), (.status(404), .rejected)] {
      let bench = CallBench()
      let gate = Gate()
      bench.stub.onAny(reply: answer.waiting(for: gate))
      let request = request()
      let calls = (0..<3).map { _ in Task { await bench.api.result(of: request) } }
      try await waitWhile(bench.log.events.count(where: { $0.hasPrefix("coalesced") }) < 2)
      gate.open()
      for call in calls { #expect(await call.value.error?.code == code) }
      #expect(bench.stub.exchanges.count == 1)
      #expect(bench.isClean)
    }
  }

  @Test("Calls join only if their messages are equal: a different target, field or content causes a separate exchange")
  func differentMessages() async throws {
    bench.stub.onAny(reply: .text("ok").waiting(for: gate))
    func post(_ text: String) -> Request<String> {
      .post("/user", content: .text(text)).id("one", onDuplicate: .coalesce)
    }
    let stream = ContentStream(isReplayable: true) { { nil } }
    let requests: [Request<String>] = [
      request(), request("/other"), request().field("Accept-Language", "de"), post("a"), post("b"), post("a"),
      .post("/user", content: .stream(stream)).id("one", onDuplicate: .coalesce),
      .post("/user", content: .stream(stream)).id("one", onDuplicate: .coalesce),
    ]
    let calls = requests.map { start($0) }
    try await gate.waitForArrivals(7)
    try await waitWhile(!bench.log.events.contains(where: { $0.hasPrefix("coalesced") }))
    gate.open()
    for call in calls { #expect(try await call.value.get() == "ok") }
    #expect(bench.stub.exchanges.count == 7)
  }

  @Test("Calls of different environments do not join, even with equal messages")
  func environments() async throws {
    bench.stub.onAny(reply: .text("ok").waiting(for: gate))
    let first = start(request())
    try await gate.waitForArrivals(1)
    bench.api.use(Environment(baseURL: "https://x.test"))
    let second = start(request())
    try await gate.waitForArrivals(2)
    gate.open()
    _ = try await (first.value.get(), second.value.get())
    #expect(bench.stub.exchanges.count == 2)
  }

  @Test("Calls of different principals do not join")
  func principals() async throws {
    let principal = Mutex<UInt64?>(1)
    var environment = Environment(baseURL: "https://x.test")
    environment.values[CallBinderKey.self] = { _, _ in principal.withLock { $0 } }
    bench.api.use(environment)
    bench.stub.onAny(reply: .text("ok").waiting(for: gate))
    let first = start(request())
    try await gate.waitForArrivals(1)
    principal.withLock { $0 = 2 }
    let second = start(request())
    try await gate.waitForArrivals(2)
    gate.open()
    _ = try await (first.value.get(), second.value.get())
    #expect(bench.stub.exchanges.count == 2)
  }

  @Test("Cancelling either of two joined calls does not affect the other call", arguments: [0, 1])
  func oneLeaves(index: Int) async throws {
    bench.stub.onAny(reply: .text("ok").waiting(for: gate))
    let calls = try await join(request(), request())
    calls[index].cancel()
    #expect(await calls[index].value.error?.cancellation == .caller)
    #expect(bench.stub.openExchanges.count == 1)
    gate.open()
    #expect(try await calls[1 - index].value.get() == "ok")
    #expect(bench.stub.exchanges.map(\.outcome) == [.replied])
    #expect(bench.isClean)
  }

  @Test("A joined call's deadline does not affect the other calls, and its request state is maybeSent")
  func oneTimesOut() async throws {
    bench.stub.onAny(reply: .text("ok").waiting(for: gate))
    let calls = try await join(request(), request().timeout(.seconds(1)))
    try await bench.clock.waitForSleepers(1)
    bench.clock.advance(by: .seconds(1))
    let error = try #require(await calls[1].value.error)
    #expect(error.code == .timeout)
    #expect(error.requestState == .maybeSent)
    gate.open()
    #expect(try await calls[0].value.get() == "ok")
    #expect(bench.stub.exchanges.count == 1)
  }

  @Test("The leader's deadline does not end the exchange for the joined calls")
  func firstTimesOut() async throws {
    bench.stub.onAny(reply: .text("ok").waiting(for: gate))
    let calls = try await join(request().timeout(.seconds(1)), request())
    try await bench.clock.waitForSleepers(1)
    bench.clock.advance(by: .seconds(1))
    #expect(await calls[0].value.error?.code == .timeout)
    gate.open()
    #expect(try await calls[1].value.get() == "ok")
  }

  @Test("Cancelling the last joined call cancels the exchange, and the next call starts a new exchange")
  func allLeave() async throws {
    bench.stub.on(.get, "/user", replies: [.text("old").waiting(for: gate), .text("new")])
    let calls = try await join(request(), request(), request())
    for call in calls { call.cancel() }
    for call in calls { #expect(await call.value.error?.code == .cancelled) }
    try await bench.stub.waitUntilIdle()
    #expect(bench.stub.exchanges.map(\.outcome) == [.cancelled])
    #expect(try await bench.api.send(request()) == "new")
    #expect(bench.isClean)
  }

  @Test("A call made after the end of the joined exchange starts a new exchange")
  func afterwards() async throws {
    bench.stub.on(.get, "/user", replies: [.text("first"), .text("second")])
    #expect(try await bench.api.send(request()) == "first")
    #expect(try await bench.api.send(request()) == "second")
  }

  @Test("Cancelling by id ends all calls that joined")
  func byID() async throws {
    bench.stub.onAny(reply: .text("ok").waiting(for: gate))
    let calls = try await join(request(), request())
    #expect(bench.api.calls.cancel(id: "one") == 2)
    for call in calls { #expect(await call.value.error?.cancellation == .requested) }
    try await bench.stub.waitUntilIdle()
    #expect(bench.isClean)
  }
}

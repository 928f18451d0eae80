import ApusCore
import ApusMiddleware
import ApusTesting
import HTTPTypes
import TestSupport
import Testing

@Suite("The deadline of a whole call")
struct TimeoutMiddlewareTests {
  private let clock = ManualClock(.manual)
  private let stub = StubTransport()

  private func client(timeout: Duration? = .seconds(30), settings: (inout ClientSettings) -> Void = { _ in })
    -> TestClient
  {
    var client = TestClient()
    client.settings.runtime.clock = clock
    client.timeout = timeout
    settings(&client.settings)
    return client
  }

  /// Advances the time to the call's own deadline, which is the only sleeper.
  private func pass(_ duration: Duration) async throws {
    try await clock.waitForSleepers(1)
    clock.advance(by: duration)
  }

  @Test(
    "A server that never responds causes a timeout in the phase awaitingHead, in the error's message and in the log")
  func stalledBeforeHead() async throws {
    stub.onAny(reply: .stalled)
    let api = client().over(stub)
    async let outcome = failure { try await api.send(.ping) }
    try await stub.waitForExchanges(1)
    try await pass(.seconds(30))
    let error = try #require(await outcome)
    #expect(error.code == .timeout)
    #expect(error.phase == .awaitingHead)
    #expect(error.cancellation == .deadline(.awaitingHead))
    #expect(error.requestState == .maybeSent)
    #expect(error.errorDescription == "The server took too long to answer. Try again.")
    #expect("\(error)".contains("timed out while it waited for the response: exceeded the default limit of 30 s"))
    try await stub.waitUntilIdle()
    #expect(stub.exchanges.map(\.outcome) == [.cancelled])
  }

  @Test("A transport that never connects causes a timeout in the phase connecting")
  func connecting() async throws {
    let transport = NeverConnecting()
    let api = client().over(transport)
    async let outcome = failure { try await api.send(.ping) }
    try await transport.gate.waitForArrivals(1)
    try await pass(.seconds(30))
    #expect(await outcome?.phase == .connecting)
  }

  @Test("Content that stops arriving causes a timeout in the phase receiving, with the state responded")
  func stalledInContent() async throws {
    stub.onAny(reply: .pieces(["[1,", "2]"]).stalled(after: 1))
    let received = Log<Int64>()
    let api = client { $0.observers = [ProgressObserver(received: received)] }.over(stub)
    async let outcome = failure { try await api.send(Request<[Int]>.get("/numbers")) }
    try await received.first()
    try await pass(.seconds(30))
    let error = try #require(await outcome)
    #expect(error.code == .timeout)
    #expect(error.phase == .receiving)
    #expect(error.requestState == .responded)
    #expect(error.status == 200)
    try await stub.waitUntilIdle()
  }

  @Test("A call that waits in the pipeline times out in the phase waiting, as not sent")
  func waiting() async throws {
    stub.onAny(reply: .status(204))
    let gate = Gate()
    var client = client()
    client.customize = { $0.insert(Hold(gate: gate), .after(.scheduling)) }
    let api = client.over(stub)
    async let outcome = failure { try await api.send(.ping) }
    try await gate.waitForArrivals(1)
    try await pass(.seconds(30))
    let error = try #require(await outcome)
    #expect(error.phase == .waiting)
    #expect(error.requestState == .notSent)
    #expect(stub.exchanges.isEmpty)
  }

  @Test("Waiting and the response share one timeout")
  func sharedLimit() async throws {
    stub.onAny(reply: .status(204).after(.seconds(20)))
    var client = client()
    client.customize = { $0.insert(Pause(duration: .seconds(15)), .after(.scheduling)) }
    let api = client.over(stub)
    async let outcome = failure { try await api.send(.ping) }
    try await clock.waitForSleepers(2)
    clock.advance(by: .seconds(15))
    try await stub.waitForExchanges(1)
    try await clock.waitForSleepers(2)
    clock.advance(by: .seconds(15))
    #expect(await outcome?.phase == .awaitingHead)
  }

  @Test("A call's own timeout replaces the client's timeout, whether shorter or longer", arguments: [5, 60])
  func ownLimit(seconds: Int) async throws {
    stub.onAny(reply: .stalled)
    let api = client().over(stub)
    async let outcome = failure { try await api.send(.ping.timeout(.seconds(seconds))) }
    try await clock.waitForSleepers(1)
    #expect(clock.nextWake == clock.now.advanced(by: .seconds(seconds)))
    clock.advance(by: .seconds(seconds))
    #expect(await outcome?.code == .timeout)
  }

  @Test(
    "An inner middleware can set an earlier deadline, but a later deadline has no effect",
    arguments: [(10, 10), (50, 30)])
  func nestedLimit(inner: Int, expected: Int) async throws {
    stub.onAny(reply: .stalled)
    var client = client()
    client.customize = { $0.insert(InnerLimit(duration: .seconds(inner)), .after(.attemptTimeout)) }
    let api = client.over(stub)
    async let outcome = failure { try await api.send(.ping) }
    try await stub.waitForExchanges(1)
    try await clock.waitForSleepers(1)
    clock.advance(by: .seconds(expected) - .milliseconds(1))
    #expect(api.calls.all.first?.isEnded == false)
    clock.advance(by: .milliseconds(1))
    #expect(await outcome?.code == .timeout)
  }

  @Test("A later deadline set on an older copy of the context does not postpone an earlier deadline")
  func limitOnOlderCopy() async throws {
    stub.onAny(reply: .stalled)
    var client = client(timeout: nil)
    client.customize = {
      $0.insert(LimitTwice(first: .seconds(5), second: .seconds(50)), .after(.attemptTimeout))
    }
    let api = client.over(stub)
    async let outcome = failure { try await api.send(.ping) }
    try await stub.waitForExchanges(1)
    try await clock.waitForSleepers(1)
    #expect(clock.nextWake == clock.now.advanced(by: .seconds(5)))
    clock.advance(by: .seconds(5))
    #expect(await outcome?.code == .timeout)
  }

  @Test("A response in time leaves no timer")
  func inTime() async throws {
    stub.onAny(reply: .status(204).after(.seconds(29)))
    let api = client().over(stub)
    async let outcome = failure { try await api.send(.ping) }
    try await clock.waitForSleepers(2)
    clock.advance(by: .seconds(29))
    #expect(await outcome == nil)
    clock.advance(by: .seconds(60))
    #expect(api.calls.isEmpty)
  }

  @Test("With a non-positive timeout nothing is sent", arguments: [Duration.zero, .seconds(-1), .nanoseconds(-1)])
  func noTime(limit: Duration) async throws {
    stub.onAny(reply: .status(204))
    let error = try #require(await failure { try await client().over(stub).send(.ping.timeout(limit)) })
    #expect(error.code == .timeout)
    #expect(error.phase == .waiting)
    #expect(error.requestState == .notSent)
    #expect(stub.exchanges.isEmpty)
  }

  @Test("The longest possible timeout does not trap with the system clock")
  func endless() async throws {
    stub.onAny(reply: .status(204))
    let api = TestClient().over(stub)
    try await api.send(.ping.timeout(.seconds(Int64.max)))
    try await api.send(.ping.timeout(.nanoseconds(Int64.max)))
    try await api.send(.ping.timeout(.milliseconds(20_000)))
  }

  @Test("A call without a timeout starts no timer")
  func noLimit() async throws {
    let gate = Gate()
    stub.onAny(reply: .status(204).waiting(for: gate))
    let unlimited = client(timeout: nil).over(stub)
    async let first = failure { try await unlimited.send(.ping) }
    try await gate.waitForArrivals(1)
    let limited = client().over(stub)
    async let second = failure { try await limited.withResponse(to: .ping.timeout(nil)) { _ in } }
    try await gate.waitForArrivals(2)
    #expect(clock.sleepers == 0)
    gate.open()
    #expect(await first == nil)
    #expect(await second == nil)
  }

  @Test("A streamed call's own timeout includes its content, and the error has the reader's phase")
  func streamLimit() async throws {
    stub.onAny(reply: .pieces(["a", "b"]).stalled(after: 1))
    let api = client().over(stub)
    let clock = clock
    let error = await failure {
      try await api.withResponse(to: .get("/s").timeout(.seconds(3))) { (response: inout StreamedResponse) in
        _ = try await response.next()
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(3))
        while try await response.next() != nil {}
      }
    }
    #expect(error?.code == .timeout)
    #expect(error?.cancellation == .deadline(.handling))
  }

  @Test("Joined calls have separate deadlines: when one call ends, the other call still receives the response")
  func joined() async throws {
    let gate = Gate()
    stub.onAny(reply: .json("7").waiting(for: gate))
    let api = client().over(stub)
    let request = Request<Int>.get("/seven").id("seven", onDuplicate: .coalesce)
    async let patient = api.send(request)
    try await gate.waitForArrivals(1)
    async let hasty = failure { try await api.send(request.timeout(.seconds(1))) }
    try await clock.waitForSleepers(1)
    try await waitWhile(clock.nextWake != clock.now.advanced(by: .seconds(1)))
    clock.advance(by: .seconds(1))
    let error = try #require(await hasty)
    #expect(error.code == .timeout)
    #expect(error.requestState == .maybeSent)
    gate.open()
    #expect(try await patient == 7)
    #expect(stub.exchanges.count == 1)
  }
}

/// A transport that never connects.
private struct NeverConnecting: Transport {
  let gate = Gate()

  func send(_ request: RequestMessage, context: ExchangeContext) async throws -> ResponseMessage {
    try await gate.wait()
    throw CancellationError()
  }
}

private struct Pause: Middleware {
  let duration: Duration

  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    try await context.clock.sleep(until: context.now.advanced(by: duration))
    return try await next(request, context: context)
  }
}

private struct InnerLimit: Middleware {
  let duration: Duration

  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    var context = context
    context.limit(to: context.now.advanced(by: duration))
    return try await next(request, context: context)
  }
}

private struct LimitTwice: Middleware {
  let first: Duration
  let second: Duration

  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    var (one, other) = (context, context)
    one.limit(to: context.now.advanced(by: first))
    other.limit(to: context.now.advanced(by: second))
    return try await next(request, context: other)
  }
}

private struct ProgressObserver: CallObserver {
  let received: Log<Int64>

  func observe(_ event: TraceEvent, of call: CallEntry) {
    if case .receiveProgress(let bytes, _) = event.kind { received.add(bytes) }
  }
}

import ApusCore
import ApusTesting
import HTTPTypes
import Testing

/// A middleware that sets a deadline of five seconds for every attempt.
private struct ShortAttempts: Middleware {
  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    var context = context
    context.limitAttempt(to: context.now.advanced(by: .seconds(5)))
    return try await next(request, context: context)
  }
}

@Suite("A stub and the deadline of an attempt")
struct StubLimitTests {
  private let stub = StubTransport()
  private let clock = ManualClock(.manual)
  private let api: Client
  private let text = Request<String>.get("/text")

  init() {
    var settings = ClientSettings()
    settings.runtime.clock = clock
    var pipeline = Pipeline()
    pipeline.insert(ShortAttempts(), .after(.attemptTimeout))
    api = Client(
      environment: Environment(baseURL: "https://x.test"), pipeline: pipeline, transport: stub, settings: settings)
  }

  @Test(
    "A stub's reply that waits for a time or a gate does not arrive after the attempt's deadline",
    arguments: [true, false])
  func late(hasGate: Bool) async throws {
    let answer = StubReply.text("late")
    stub.onAny(reply: hasGate ? answer.waiting(for: Gate()) : answer.after(.seconds(5)))
    let call = Task { [api, text] in try await api.send(text) }
    try await stub.waitForExchanges(1)
    try await clock.waitForSleepers(1)
    clock.advance(by: .seconds(5))
    let result = await call.result
    let error = #expect(throws: CallError.self) { try result.get() }
    #expect(error?.code == .timeout && error?.phase == .awaitingHead && error?.requestState == .maybeSent)
    #expect(stub.exchanges.map(\.outcome) == [.cancelled])
  }

  @Test("A stub's reply before the deadline arrives, and its content may take any time")
  func inTime() async throws {
    let gate = Gate()
    stub.onAny(reply: .pieces(["a", "b"], gate: gate).after(.seconds(4)))
    let call = Task { [api, text] in try await api.send(text) }
    try await clock.waitForSleepers(1)
    clock.advance(by: .seconds(4))
    try await gate.waitForArrivals(1)
    clock.advance(by: .seconds(60))
    gate.open()
    #expect(try await call.value == "ab")
  }

  @Test("A stub's reply whose closure takes longer than the deadline times out")
  func made() async throws {
    let clock = clock
    stub.on(
      where: { _, _ in true },
      reply: { _ in
        clock.advance(by: .seconds(5))
        return .text("late")
      })
    let result = await Task { [api, text] in try await api.send(text) }.result
    let error = #expect(throws: CallError.self) { try result.get() }
    #expect(error?.code == .timeout)
  }
}

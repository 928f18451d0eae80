import ApusCore
import ApusTesting
import HTTPTypes
import Testing

@testable import ApusMiddleware

/// A middleware in which one call waits at a gate, without its permit, before it is sent.
private struct WaitsElsewhere: Middleware {
  let gate: Gate

  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    if context.call.tags.contains("elsewhere") { try await context.withoutPermit { try await gate.wait() } }
    return try await next(request, context: context)
  }
}

@Suite("Scheduling: waiting without a permit")
struct PausedPermitTests {
  private let stub = StubTransport.answering()
  private let elsewhere = Gate()

  private func api(_ scheduler: Scheduler?) -> Client {
    let elsewhere = elsewhere
    var client = TestClient()
    // Calls can return their permit temporarily only if there is authentication.
    client.environment.authentication = .bearer(MemoryCredentialsStore(token: "t"))
    client.customize = {
      if let scheduler { $0.insert(SchedulingMiddleware(scheduler), .after(.scheduling)) }
      $0.insert(WaitsElsewhere(gate: elsewhere), .after(.authentication))
    }
    return client.over(stub)
  }

  @Test("While a call waits without its permit, other calls run; then the call waits for the permit again")
  func others() async throws {
    let (scheduler, gate) = (Scheduler(ConcurrencyLimits(global: 1)), Gate())
    let api = api(scheduler)
    stub.on(.get, "/v1/slow", reply: .status(204).waiting(for: gate))
    let paused = Task { try await api.response(to: .step("paused").tag("elsewhere")) }
    try await elsewhere.waitForArrivals(1)
    #expect(scheduler.runningCount == 0)
    try await api.send(.step("other"))
    let slow = Task { try await api.send(.step("slow")) }
    try await gate.waitForArrivals(1)
    elsewhere.open()
    try await scheduler.waitForWaiting(1)
    gate.open()
    try await slow.value
    let trace = try await paused.value.trace
    #expect(trace.events.contains { $0.kind == .queued(.global(limit: 1)) })
    #expect(stub.exchanges.map(\.target) == ["/v1/other", "/v1/slow", "/v1/paused"])
    #expect(scheduler.runningCount == 0)
  }

  @Test("A call that is cancelled while it waits without its permit returns no permit")
  func cancelled() async throws {
    let scheduler = Scheduler(ConcurrencyLimits(global: 1))
    let api = api(scheduler)
    let paused = Task { await failure { try await api.send(.step("paused").tag("elsewhere")) } }
    try await elsewhere.waitForArrivals(1)
    api.calls.cancelAll()
    #expect(await paused.value?.isCancellation == true)
    #expect(scheduler.runningCount == 0)
    try await api.send(.ping)
    #expect(stub.exchanges.count == 1)
  }

  @Test("Without a scheduler there is no permit to pause")
  func unscheduled() async throws {
    let api = api(nil)
    elsewhere.open()
    try await api.send(.step("paused").tag("elsewhere"))
    #expect(stub.exchanges.count == 1)
  }
}

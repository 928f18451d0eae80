import ApusCore
import ApusTesting
import Synchronization
import TestSupport
import Testing

@testable import ApusMiddleware

@Suite("Scheduling: refused calls")
struct SchedulingRefusalTests {
  private let stub = StubTransport()
  private let clock = ManualClock(.manual)
  private let gate = Gate()

  private func client(_ scheduler: Scheduler, timeout: Duration? = nil) -> TestClient {
    var client = TestClient()
    client.timeout = timeout
    client.settings.runtime.clock = clock
    return client.scheduled(by: scheduler)
  }

  /// Returns a scheduler with a global limit of one.
  private func single(_ change: (inout ConcurrencyLimits) -> Void = { _ in }) -> Scheduler {
    Scheduler(ConcurrencyLimits(global: 1).with(change))
  }

  /// Sets replies that wait for the gate.
  private func answerLate() {
    stub.onAny(reply: .status(204).waiting(for: gate))
  }

  @Test("A call beyond the scheduler's queue capacity is refused, and nothing is sent")
  func queueFull() async throws {
    answerLate()
    let scheduler = single { $0.queueCapacity = 1 }
    let api = client(scheduler).over(stub)
    let first = Task { try await api.send(.ping) }
    try await stub.waitForExchanges(1)
    let second = Task { try await api.send(.ping) }
    try await scheduler.waitForWaiting(1)
    let error = try #require(await failure { try await api.send(.ping) })
    #expect(error.code == .refused)
    #expect(error.requestState == .notSent)
    #expect(error.underlying as? SchedulingRefusal == .queueFull(limit: 1))
    gate.open()
    try await first.value
    try await second.value
    #expect(stub.exchanges.count == 2)
  }

  @Test("The deadline of a call includes the time in the queue, and the error has the phase waiting")
  func deadline() async throws {
    answerLate()
    let scheduler = single()
    let api = client(scheduler, timeout: .seconds(30)).over(stub)
    let first = Task { try await api.send(.ping.timeout(.seconds(60))) }
    try await stub.waitForExchanges(1)
    let second = Task { await failure { try await api.send(.ping) } }
    try await scheduler.waitForWaiting(1)
    clock.advance(by: .seconds(30))
    let error = try #require(await second.value)
    #expect(error.code == .timeout)
    #expect(error.phase == .waiting)
    #expect(error.requestState == .notSent)
    #expect(scheduler.queuedCount == 0)
    gate.open()
    try await first.value
    #expect(scheduler.runningCount == 0)
  }

  @Test("A call that became too late in the queue has the wait in its trace")
  func toldLate() async throws {
    let scheduler = single()
    let begin = clock.now
    let admission = scheduler.shared.withLock { $0.state.enter(SchedulerBench.newcomer(), now: begin) }
    guard case .runs(let ticket) = admission else {
      Issue.record("the only one does not run")
      return
    }
    let api = client(scheduler, timeout: .seconds(30)).over(stub)
    let call = Task { await failure { try await api.send(.ping.tag("waits")) } }
    try await scheduler.waitForWaiting(1)
    // From this event on, the call's wait is measured.
    try await waitWhile(api.calls.calls(tag: "waits").first?.trace.events.last?.kind != .queued(.global(limit: 1)))
    clock.advance(by: .seconds(20))
    // The permit is returned after the call's deadline; no timer fired before, because the client's clock is behind.
    scheduler.leave(ticket, at: begin.advanced(by: .seconds(30)))
    let error = try #require(await call.value)
    #expect(error.code == .timeout && error.phase == .waiting)
    #expect(error.underlying as? SchedulingRefusal == .deadlineTooNear)
    #expect(error.trace.description.contains("too late for a permit, after ms: 20000"))
    #expect(stub.exchanges.isEmpty)
    #expect(scheduler.runningCount == 0 && scheduler.queuedCount == 0)
  }

  @Test("A call that is cancelled in the queue is not sent and uses no permit")
  func cancelled() async throws {
    answerLate()
    let scheduler = single()
    let api = client(scheduler).over(stub)
    let first = Task { try await api.send(.ping) }
    try await stub.waitForExchanges(1)
    let second = Task { await failure { try await api.send(.ping.tag("images")) } }
    try await scheduler.waitForWaiting(1)
    let third = Task { try await api.send(.ping) }
    try await scheduler.waitForWaiting(2)
    #expect(api.calls.cancel(tag: "images") == 1)
    #expect(await second.value?.isCancellation == true)
    gate.open()
    try await first.value
    try await third.value
    #expect(stub.exchanges.count == 2)
    #expect(scheduler.runningCount == 0 && scheduler.queuedCount == 0)
  }

  @Test("A call that became too late in the queue times out in the phase waiting")
  func late() {
    let error = SchedulingRefusal.deadlineTooNear.error
    #expect(error.code == .timeout && error.phase == .waiting)
    #expect(error.requestState == .notSent)
    #expect(error.underlying as? SchedulingRefusal == .deadlineTooNear)
    #expect(error.detail == "the deadline is too near to start the call")
    #expect("\(SchedulingRefusal.queueFull(limit: 3))" == "the scheduler's queue is full (3 calls)")
  }
}

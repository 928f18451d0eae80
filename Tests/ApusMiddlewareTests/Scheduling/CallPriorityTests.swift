import ApusCore
import ApusMiddleware
import ApusTesting
import HTTPTypes
import Testing

@Suite("Priorities")
struct CallPriorityTests {
  @Test(
    "The task's priority is the default priority of its calls",
    arguments: [
      (TaskPriority.background, CallPriority.background), (.utility, .low), (.low, .low), (.medium, .normal),
      (.high, .high), (.userInitiated, .high), (TaskPriority(rawValue: 0), .background),
      (TaskPriority(rawValue: 255), .high),
    ])
  func tasks(priority: TaskPriority, expected: CallPriority) {
    #expect(CallPriority(priority) == expected)
  }

  @Test("Call priorities are ordered by urgency")
  func order() {
    #expect(CallPriority.allCases.sorted() == [.background, .low, .normal, .high, .immediate])
  }

  @Test("An endpoint's priority takes precedence over the task's priority")
  func defaults() async throws {
    let (stub, scheduler, gate) = (StubTransport(), Scheduler(ConcurrencyLimits(global: 1)), Gate())
    stub.onAny(reply: .status(204))
    stub.on(.get, "/v1/first", reply: .status(204).waiting(for: gate))
    let api = TestClient().scheduled(by: scheduler).over(stub)
    let first = Task { try await api.send(.step("first")) }
    try await stub.waitForExchanges(1)
    var tasks: [Task<Void, any Error>] = []
    for (priority, name) in [(TaskPriority.utility, "low"), (.medium, "normal"), (.high, "high")] {
      tasks.append(Task.detached(priority: priority) { try await api.send(.step(name)) })
      try await scheduler.waitForWaiting(tasks.count)
    }
    tasks.append(Task { try await api.send(.step("immediate").priority(.immediate)) })
    try await scheduler.waitForWaiting(tasks.count)
    gate.open()
    try await first.value
    for task in tasks { try await task.value }
    #expect(stub.exchanges.map(\.target) == ["first", "immediate", "high", "normal", "low"].map { "/v1/\($0)" })
  }
}

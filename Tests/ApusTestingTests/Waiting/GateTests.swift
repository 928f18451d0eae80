import ApusTesting
import Testing

@Suite("Gates")
struct GateTests {
  @Test("an open gate lets everybody pass")
  func open() async throws {
    let gate = Gate()
    let early = Task { try await gate.wait() }
    try await gate.waitForArrivals(1)
    #expect(!gate.isOpen)
    gate.open()
    try await early.value
    try await gate.wait()
    #expect(gate.arrivals == 2)
  }

  @Test("passes let those through who came first")
  func passes() async throws {
    let gate = Gate()
    let executor = ManualExecutor()
    let passed = Log<Int>()
    let tasks = (0..<3).map { number in
      Task(executorPreference: executor) {
        try await gate.wait()
        passed.add(number)
      }
    }
    executor.runAll()
    gate.release(2)
    executor.runAll()
    #expect(passed.all == [0, 1])
    gate.release()
    executor.runAll()
    for task in tasks { try await task.value }
  }

  @Test("a pass that nobody waited for is kept, and used up once")
  func keptPass() async throws {
    let gate = Gate()
    gate.release()
    try await gate.wait()
    let second = Task { try await gate.wait() }
    try await gate.waitForArrivals(2)
    second.cancel()
    await #expect(throws: CancellationError.self) { try await second.value }
  }

  @Test("a waiter that is cancelled uses up no pass")
  func cancelled() async throws {
    let gate = Gate()
    let first = Task { try await gate.wait() }
    try await gate.waitForArrivals(1)
    first.cancel()
    await #expect(throws: CancellationError.self) { try await first.value }
    gate.release()
    try await gate.wait()
  }
}

import ApusTesting
import TestSupport
import Testing

@Suite("Gates")
struct GateTests {
  @Test("Every task passes an open gate")
  func open() async throws {
    let gate = Gate()
    let early = Task { try await gate.wait() }
    try await gate.waitForArrivals(1)
    #expect(!gate.isOpen)
    gate.open()
    try await early.value
    try await gate.wait()
    #expect(gate.isOpen)
    #expect(gate.arrivals == 2)
  }

  @Test("A gate's released passes are used in order of arrival")
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

  @Test("A gate's unused pass is stored and used once")
  func keptPass() async throws {
    let gate = Gate()
    gate.release()
    try await gate.wait()
    let second = Task { try await gate.wait() }
    try await gate.waitForArrivals(2)
    second.cancel()
    await #expect(throws: CancellationError.self) { try await second.value }
  }

  @Test("A cancelled waiter uses no pass of a gate")
  func cancelled() async throws {
    let gate = Gate()
    let first = Task { try await gate.wait() }
    try await gate.waitForArrivals(1)
    first.cancel()
    await #expect(throws: CancellationError.self) { try await first.value }
    gate.release()
    try await gate.wait()
  }

  @Test("A task that is already cancelled waits neither at the gate nor for arrivals")
  func alreadyCancelled() async throws {
    let gate = Gate()
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      await #expect(throws: CancellationError.self) { try await gate.wait() }
      await #expect(throws: CancellationError.self) { try await gate.waitForArrivals(9) }
    }
    await task.value
  }

  @Test("A wait for arrivals at a gate ends when its task is cancelled")
  func arrivalsCancelled() async throws {
    let gate = Gate()
    let task = Task { try await gate.waitForArrivals(2) }
    try? await gate.waitForArrivals(0)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test("A pass released in advance is used by the next task, and a later task waits")
  func releasedInAdvance() async throws {
    let gate = Gate()
    let waiter = Task { try await gate.wait() }
    try await gate.waitForArrivals(1)
    gate.release(2)
    try await waiter.value
    try await gate.wait()
    let third = Task { try await gate.wait() }
    try await gate.waitForArrivals(3)
    third.cancel()
    await #expect(throws: CancellationError.self) { try await third.value }
  }
}

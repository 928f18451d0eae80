import ApusTesting
import Synchronization
import Testing

@testable import ApusMiddleware

/// A table behind a lock, with a task for each key.
private final class Waiters: Sendable {
  private let table = Mutex(WaiterTable<Int, String>())

  var isEmpty: Bool { table.withLock { $0.isEmpty } }

  func isPending(_ key: Int) -> Bool { table.withLock { $0.isPending(key) } }

  func register(_ key: Int) { table.withLock { $0.register(key) } }

  func wait(_ key: Int) async throws -> String {
    try await withWaiter { continuation in
      table.withLock { $0.suspend(key, continuation) }
    } onCancel: {
      _ = cancel(key)
    }
  }

  /// Returns whether a suspended task was resumed.
  func resolve(_ key: Int, with outcome: String) -> Bool {
    let resumption = table.withLock { $0.resolve(key, with: outcome) }
    resumption?.resume()
    return resumption != nil
  }

  /// Returns the state of the cancelled wait, as text.
  func cancel(_ key: Int) -> String {
    switch table.withLock({ $0.cancel(key) }) {
    case .suspended(let continuation):
      continuation.resume(throwing: CancellationError())
      return "suspended"
    case .registered: return "registered"
    case .resolved(let outcome): return "resolved \(outcome)"
    case nil: return "unknown"
    }
  }
}

@Suite("Waiter table")
struct WaiterTableTests {
  @Test("In a WaiterTable, a suspended task gets its outcome, and its key is removed")
  func suspended() async throws {
    let (waiters, executor) = (Waiters(), ManualExecutor())
    waiters.register(1)
    let task = Task(executorPreference: executor) { try await waiters.wait(1) }
    executor.run(jobs: 1)
    #expect(waiters.isPending(1))
    #expect(waiters.resolve(1, with: "a"))
    #expect(try await executor.finish(task).get() == "a")
    #expect(waiters.isEmpty && !waiters.isPending(1))
    #expect(!waiters.resolve(1, with: "b"))
    #expect(waiters.isEmpty)
  }

  @Test("In a WaiterTable, an outcome before the task suspends is stored, and a later outcome replaces it")
  func early() async throws {
    let waiters = Waiters()
    waiters.register(1)
    #expect(!waiters.resolve(1, with: "a") && !waiters.resolve(1, with: "b"))
    #expect(!waiters.isPending(1) && !waiters.isEmpty)
    #expect(try await waiters.wait(1) == "b")
    #expect(waiters.isEmpty)
  }

  @Test("In a WaiterTable, a task with an unknown key does not wait")
  func unknown() async {
    let waiters = Waiters()
    await #expect(throws: CancellationError.self) { try await waiters.wait(1) }
    waiters.register(1)
    #expect(waiters.cancel(1) == "registered")
    await #expect(throws: CancellationError.self) { try await waiters.wait(1) }
    #expect(waiters.isEmpty && waiters.cancel(1) == "unknown")
  }

  @Test("Cancelling a wait in a WaiterTable returns its undelivered outcome")
  func undelivered() {
    let waiters = Waiters()
    waiters.register(1)
    #expect(!waiters.resolve(1, with: "a"))
    #expect(waiters.cancel(1) == "resolved a")
    #expect(waiters.isEmpty)
  }

  @Test("A waiter that is cancelled at any step ends once, with its outcome or a CancellationError")
  func cancelled() async {
    for steps in 0..<4 {
      for isResolved in [false, true] {
        let (waiters, executor) = (Waiters(), ManualExecutor())
        waiters.register(1)
        let task = Task(executorPreference: executor) { try await waiters.wait(1) }
        executor.run(jobs: steps)
        if isResolved { _ = waiters.resolve(1, with: "a") }
        task.cancel()
        let result = await executor.finish(task)
        switch result {
        case .success(let outcome): #expect(outcome == "a" && isResolved)
        case .failure(let error): #expect(error is CancellationError)
        }
        if isResolved, steps > 0 { #expect((try? result.get()) == "a", "\(steps)") }
        #expect(waiters.isEmpty, "\(steps)")
      }
    }
  }

  @Test("In a WaiterTable, tasks with different keys do not affect each other")
  func independent() async throws {
    let (waiters, executor) = (Waiters(), ManualExecutor())
    let tasks = (0..<3).map { key in
      waiters.register(key)
      return Task(executorPreference: executor) { try await waiters.wait(key) }
    }
    executor.run(jobs: 3)
    #expect(waiters.cancel(1) == "suspended")
    #expect(waiters.resolve(2, with: "two") && waiters.resolve(0, with: "zero"))
    var outcomes: [String?] = []
    for task in tasks { outcomes.append(try? await executor.finish(task).get()) }
    #expect(outcomes == ["zero", nil, "two"])
    #expect(waiters.isEmpty)
  }
}

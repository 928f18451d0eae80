import ApusCore
import ApusTesting
import TestSupport
import Testing

@Suite("ManualExecutor")
struct ManualExecutorTests {
  @Test("A ManualExecutor queues jobs until the test runs them one at a time")
  func holding() async {
    let executor = ManualExecutor()
    let log = Log<String>()
    let tasks = ["a", "b"].map { name in
      Task(executorPreference: executor) {
        log.add(name + "1")
        await Task.yield()
        log.add(name + "2")
      }
    }
    #expect(executor.pendingJobCount == 2)
    #expect(executor.jobCount == 2)
    #expect(log.all.isEmpty)
    #expect(executor.runNext())
    #expect(log.all == ["a1"])
    executor.runAll()
    #expect(log.all == ["a1", "b1", "a2", "b2"])
    #expect(!executor.runNext())
    // A yield needs two jobs: one resumes the task, the other continues it.
    #expect(executor.jobCount == 6)
    for task in tasks { await task.value }
  }

  @Test("A ManualExecutor in forwarding mode counts jobs and runs them immediately")
  func forwarding() async {
    let executor = ManualExecutor(.forward)
    let sum = await withTaskGroup(of: Int.self) { group in
      for number in 1...100 {
        group.addTask(executorPreference: executor) {
          return number
        }
      }
      return await group.reduce(0, +)
    }
    #expect(sum == 5050)
    #expect(executor.jobCount == 100)
    #expect(executor.pendingJobCount == 0)
  }

  @Test("Queued jobs run when a ManualExecutor switches to forwarding")
  func switching() async {
    let executor = ManualExecutor()
    let task = Task(executorPreference: executor) { 7 }
    #expect(executor.pendingJobCount == 1)
    executor.mode = .forward
    #expect(await task.value == 7)
  }

  @Test("With the same seed, a ManualExecutor runs jobs in the same order")
  func randomOrder() async {
    func order(seed: UInt64) async -> [Int] {
      let executor = ManualExecutor()
      let log = Log<Int>()
      let tasks = (0..<10).map { number in Task(executorPreference: executor) { log.add(number) } }
      var generator = SeededGenerator(seed: seed)
      while executor.runNext(using: &generator) {}
      for task in tasks { await task.value }
      return log.all
    }
    #expect(await order(seed: 1) == order(seed: 1))
    #expect(await order(seed: 1) != order(seed: 2))
    #expect(await order(seed: 1).sorted() == Array(0..<10))
  }

  @Test("ManualExecutor.finish runs a task that waits for a gate to its end")
  func finishing() async throws {
    let executor = ManualExecutor()
    let gate = Gate()
    let task = Task(executorPreference: executor) {
      try await gate.wait()
      return 1
    }
    async let result = executor.finish(task)
    try await gate.waitForArrivals(1)
    gate.open()
    #expect(try await result.get() == 1)
  }

  @Test("waitForPendingJobs returns when a job is enqueued")
  func pending() async throws {
    let executor = ManualExecutor()
    let gate = Gate()
    let task = Task(executorPreference: executor) { try await gate.wait() }
    executor.runAll()
    #expect(executor.pendingJobCount == 0)
    gate.open()
    try await executor.waitForPendingJobs(1)
    executor.runAll()
    try await task.value
  }

  @Test("A whole call runs on the client's ManualExecutor, step by step")
  func call() async throws {
    let executor = ManualExecutor()
    let stub = StubTransport()
    stub.onAny(reply: .text("done"))
    var settings = ClientSettings()
    settings.runtime.executor = executor
    let api = Client(environment: Environment(baseURL: "https://x.test"), transport: stub, settings: settings)
    let call = Task(executorPreference: executor) { try await api.send(Request<String>.get("/")) }
    #expect(stub.exchanges.isEmpty)
    executor.runNext()
    #expect(api.calls.count == 1)
    #expect(stub.exchanges.isEmpty)
    executor.runAll()
    #expect(try await call.value == "done")
    #expect(executor.pendingJobCount == 0)
  }
}

import ApusCore
import ApusTesting
import HTTPTypes
import Synchronization
import Testing

/// An actor's executor that holds and counts the actor's jobs.
private final class ActorExecutor: SerialExecutor {
  private let jobs = Mutex<(pending: [UnownedJob], count: Int)>(([], 0))

  var count: Int { jobs.withLock { $0.count } }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { jobs in
      jobs.pending.append(job)
      jobs.count += 1
    }
  }

  /// Runs the next job. Returns whether there was one.
  func runNext(preferring executor: ManualExecutor) -> Bool {
    guard let job = jobs.withLock({ $0.pending.popLast() }) else { return false }
    job.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: executor.asUnownedTaskExecutor())
    return true
  }
}

/// An actor in place of the main actor.
private actor Caller {
  nonisolated let executor = ActorExecutor()
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  private var seen = 0

  func call(_ way: Way, _ api: Client) async {
    let request = Request<String>.get("/")
    switch way {
    case .send: _ = try? await api.send(request)
    case .response: _ = try? await api.response(to: request)
    case .described: _ = try? await api.message(for: request)
    case .streamed: _ = try? await api.withResponse(to: request) { $0.head.status.code }
    case .streamedHere: _ = try? await api.withResponse(to: request) { seen = $0.head.status.code }
    }
  }
}

private enum Way: CaseIterable {
  case send, response, described, streamed, streamedHere
}

@Suite("The number of executor hops of a call")
struct HopCountTests {
  /// The caller's task prefers a manual executor, so that the test also counts the task's jobs outside the actor.
  @Test(
    "From an actor, each kind of call runs one job outside the actor and resumes it once", arguments: Way.allCases)
  private func fromActor(way: Way) async {
    let (pool, units) = (ManualExecutor(), ManualExecutor())
    let bench = CallBench(executor: units)
    bench.stub.onAny(reply: .text("ok"))
    let caller = Caller()
    let task = Task(executorPreference: pool) { await caller.call(way, bench.api) }
    var jobs: [String] = []
    while true {
      if pool.runNext() {
        jobs.append("pool")
      } else if caller.executor.runNext(preferring: pool) {
        jobs.append("actor")
      } else if units.runNext() {
        jobs.append("call")
      } else {
        break
      }
    }
    #expect(jobs.filter { $0 != "pool" } == ["actor", "call", "actor"])
    // The task starts on the pool. When a task or continuation resumes this task, the runtime enqueues the task on the
    // pool first and then on the actor. Code compiled for coverage also enqueues the task on the pool before a wait.
    #expect(jobs.count { $0 == "pool" } <= 3)
    await task.value
  }

  @Test("Deadlines add no jobs to calls: one sleeping task serves a thousand calls")
  func deadlines() async throws {
    let executor = ManualExecutor(.forward)
    let bench = CallBench(executor: executor)
    bench.stub.onAny(reply: .text("ok"))
    for _ in 0..<1000 { _ = try await bench.api.send(Request<String>.get("/").timeout(.seconds(60))) }
    #expect(executor.jobCount == 1000 + 1)
    try await bench.clock.waitForSleepers(1)
    #expect(bench.clock.sleepers == 1)
    #expect(bench.clock.nextWake == MonotonicInstant(sinceStart: .seconds(60)))
  }

  @Test("Without an actor, a call starts in its caller's own job", arguments: [true, false])
  func fromNoActor(isStreamed: Bool) async {
    let pool = ManualExecutor()
    let bench = CallBench()
    bench.stub.onAny(reply: .text("ok"))
    let request = Request<String>.get("/")
    let task = Task(executorPreference: pool) {
      if isStreamed { _ = try? await bench.api.withResponse(to: request) { $0.head.status.code } }
      if !isStreamed { _ = try? await bench.api.send(request) }
    }
    #expect(bench.stub.exchanges.isEmpty)
    #expect(pool.runNext())
    #expect(bench.stub.exchanges.count == 1)
    pool.mode = .forward
    await task.value
  }

  @Test("A call cancelled before its first suspension sends nothing", arguments: [true, false])
  func cancelledAtTheStart(byCaller: Bool) async {
    let box = Box()
    let cancelling = Doing { request, context, next in
      if byCaller { box.task?.cancel() } else { box.api?.calls.cancelAll() }
      return try await next(request, context: context)
    }
    let bench = CallBench(middlewares: [(cancelling, .validation)])
    bench.stub.onAny(reply: .text("ok"))
    let pool = ManualExecutor()
    box.api = bench.api
    box.task = Task(executorPreference: pool) {
      do {
        _ = try await bench.api.send(Request<String>.get("/"))
        Issue.record("a cancelled call gave its value")
      } catch {
        let error = error as? CallError
        #expect(error?.code == .cancelled && error?.requestState == .notSent)
      }
    }
    pool.mode = .forward
    await box.task?.value
    #expect(bench.stub.exchanges.isEmpty)
    #expect(bench.isClean)
  }
}

/// The task or client that a middleware cancels; set after the middleware is made.
private final class Box: Sendable {
  private let held = Mutex<(task: Task<Void, Never>?, api: Client?)>((nil, nil))

  var task: Task<Void, Never>? {
    get { held.withLock { $0.task } }
    set { held.withLock { $0.task = newValue } }
  }

  var api: Client? {
    get { held.withLock { $0.api } }
    set { held.withLock { $0.api = newValue } }
  }
}

import ApusCore
import ApusTesting
import Dispatch
import HTTPTypes
import Synchronization
import Testing

/// An actor's executor that holds and counts the actor's jobs.
private final class ScreenExecutor: SerialExecutor {
  private let jobs = Mutex<(pending: [UnownedJob], count: Int)>(([], 0))
  /// A gate that is released once for each job.
  let arrivals = Gate()

  var count: Int { jobs.withLock { $0.count } }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { jobs in
      jobs.pending.append(job)
      jobs.count += 1
    }
    arrivals.release()
  }

  func runNext() async throws {
    try await arrivals.wait()
    let job = jobs.withLock { $0.pending.removeFirst() }
    job.runSynchronously(on: asUnownedSerialExecutor())
  }
}

/// An actor in place of the main actor, which makes a call and displays the value.
private actor Screen {
  nonisolated let executor = ScreenExecutor()
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
  private(set) var shown = ""

  func load(_ api: Client) async throws {
    shown = try await api.send(Request<String>.get("/"))
  }
}

@Suite("Executors of the parts of a call")
struct HopTests {
  @Test("A call from an actor leaves the actor once and returns to the actor once")
  func hops() async throws {
    let executor = ManualExecutor()
    let bench = CallBench(executor: executor)
    bench.stub.onAny(reply: .text("ok"))
    let screen = Screen()
    let load = Task { try await screen.load(bench.api) }
    // The actor's first job: from the tap until the call is handed over.
    try await screen.executor.runNext()
    #expect(screen.executor.count == 1)
    #expect(executor.jobCount == 1)
    #expect(bench.stub.exchanges.isEmpty)
    // The call's only job: prepare, send, receive, decode.
    #expect(executor.runAll() == 1)
    #expect(bench.stub.exchanges.map(\.outcome) == [.replied])
    // The actor's second job: from the result on.
    try await screen.executor.runNext()
    try await load.value
    #expect(screen.executor.count == 2)
    #expect(executor.jobCount == 1)
  }

  @Test("A call from the main actor runs one job off the main actor, which includes decoding")
  @MainActor
  func mainActor() async throws {
    MainQueue.mark()
    let executor = ManualExecutor(.forward)
    let bench = CallBench(executor: executor)
    bench.stub.onAny(reply: .json("{}"))
    _ = try await bench.api.send(Request<Decoded>.get("/"))
    MainActor.assertIsolated()
    #expect(executor.jobCount == 1)
  }

  @Test("No part of a call runs on the main actor, even if the client has no executor")
  @MainActor
  func offTheMainActor() async throws {
    MainQueue.mark()
    let seen = Log<Bool>()
    let looking = Doing { request, context, next in
      seen.add(isOnMainQueue())
      return try await next(request, context: context)
    }
    let bench = CallBench(middlewares: [(looking, .validation)])
    bench.stub.onAny(reply: .json("{}"))
    #expect(isOnMainQueue())
    let request = Request<Decoded>.get("/")
    _ = try await bench.api.send(request)
    _ = try await bench.api.response(to: request)
    _ = try await bench.api.message(for: request)
    try await bench.api.withResponse(to: request) { _ in }
    #expect(seen.all == [false, false, false, false])
  }

  @Test("Small responses are decoded on the client's executor, large ones on the global pool")
  func bigAnswers() async throws {
    struct Placed: Decodable, Sendable {
      let executor: UnownedTaskExecutor?

      init(from decoder: any Decoder) throws {
        executor = withUnsafeCurrentTask { $0?.unownedTaskExecutor }
      }
    }
    let executor = ManualExecutor(.forward)
    let bench = CallBench(executor: executor)
    let limit = Runtime().executorDecodingLimit
    for (length, isOnExecutor) in [(2, true), (limit, true), (limit + 1, false)] {
      bench.stub.onAny(reply: .json("{" + String(repeating: " ", count: length - 2) + "}"))
      let placed = try await bench.api.send(Request<Placed>.get("/"))
      #expect((placed.executor == executor.asUnownedTaskExecutor()) == isOnExecutor, "\(length) bytes")
      let refused = Request<String>.get("/").accepting(.statuses(404))
      guard case .rejected(let rejected) = try await bench.api.outcome(of: refused, rejectedAs: Placed.self) else {
        Issue.record("a 200 was accepted")
        continue
      }
      #expect((rejected.executor == executor.asUnownedTaskExecutor()) == isOnExecutor, "\(length) bytes of a refusal")
    }
  }

  @Test("A call runs in a task of its own, with the caller's priority and task-local values")
  func inheritance() async throws {
    enum Local {
      @TaskLocal static var value = 0
    }
    let seen = Log<Int>()
    let priorities = Log<TaskPriority>()
    let looking = Doing { request, context, next in
      seen.add(Local.value)
      priorities.add(Task.currentPriority)
      return try await next(request, context: context)
    }
    let bench = CallBench(middlewares: [(looking, .validation)])
    bench.stub.onAny(reply: .text("ok"))
    let call = Task(priority: .high) {
      try await Local.$value.withValue(7) { try await bench.api.send(Request<String>.get("/")) }
    }
    _ = try await call.value
    #expect(seen.all == [7])
    #expect(priorities.all.allSatisfy { $0 >= .high })
  }
}

/// Marks the main queue, where the main actor's jobs run.
private enum MainQueue {
  static let key = DispatchSpecificKey<Bool>()

  static func mark() { DispatchQueue.main.setSpecific(key: key, value: true) }
}

private func isOnMainQueue() -> Bool { DispatchQueue.getSpecific(key: MainQueue.key) == true }

/// A value whose decoding on the main actor fails the test.
private struct Decoded: Decodable, Sendable {
  init(from decoder: any Decoder) throws {
    #expect(!isOnMainQueue())
  }
}

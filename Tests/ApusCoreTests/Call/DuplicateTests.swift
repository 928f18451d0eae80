import ApusCore
import ApusTesting
import HTTPTypes
import Testing

@Suite("Calls with the same id")
struct DuplicateTests {
  private let bench = CallBench()

  private func request(_ policy: DuplicatePolicy, _ path: RequestPath = "/text") -> Request<String> {
    .get(path).id("one", onDuplicate: policy)
  }

  private func start(_ request: Request<String>) -> Task<Result<String, CallError>, Never> {
    Task { [bench] in await bench.api.result(of: request) }
  }

  @Test("Allow: both calls run and share the id")
  func allow() async throws {
    let gate = Gate()
    bench.stub.onAny(reply: .text("ok").waiting(for: gate))
    let calls = [start(request(.allow)), start(request(.allow))]
    try await bench.stub.waitForExchanges(2)
    #expect(bench.api.calls.calls(id: "one").count == 2)
    gate.open()
    for call in calls { #expect(try await call.value.get() == "ok") }
    #expect(bench.isClean)
  }

  @Test("Refuse: the newer call is declined immediately without sending, and the running call is not affected")
  func refuse() async throws {
    let gate = Gate()
    bench.stub.onAny(reply: .text("ok").waiting(for: gate))
    let running = start(request(.refuse))
    try await bench.stub.waitForExchanges(1)
    let error = try #require(await bench.api.result(of: request(.refuse)).error)
    #expect(error.code == .refused)
    #expect(error.requestState == .notSent)
    #expect(error.attempts == 0)
    #expect(error.trace.events.map(\.kind) == [.started, .failed(.refused)])
    #expect(bench.api.calls.count == 1)
    gate.open()
    #expect(try await running.value.get() == "ok")
    #expect(bench.stub.exchanges.count == 1)
    #expect(bench.isClean)
  }

  @Test("Refuse: a streamed call with an id in use is refused, too")
  func refuseStreamed() async throws {
    bench.stub.onAny(reply: .stalled)
    let running = start(request(.refuse))
    try await bench.stub.waitForExchanges(1)
    await #expect(throws: CallError.self) { try await bench.api.withResponse(to: request(.refuse)) { _ in } }
    #expect(bench.api.calls.count == 1)
    running.cancel()
    _ = await running.value
  }

  @Test("Replace: the older call ends as superseded, and the newer call runs")
  func replace() async throws {
    let gate = Gate()
    bench.stub.on(.get, "/text", replies: [.stalled, .text("new").waiting(for: gate)])
    let older = start(request(.cancelPrevious))
    try await bench.stub.waitForExchanges(1)
    let newer = start(request(.cancelPrevious))
    let error = try #require(await older.value.error)
    #expect(error.code == .cancelled)
    #expect(error.cancellation == .superseded)
    try await bench.stub.waitForExchanges(2)
    gate.open()
    #expect(try await newer.value.get() == "new")
    #expect(bench.stub.exchanges.map(\.outcome) == [.cancelled, .replied])
    #expect(bench.isClean)
  }

  @Test("Replace: a call from a task that was already cancelled supersedes no call, and ends as cancelled")
  func replaceWhenCancelled() async throws {
    let (gate, late) = (Gate(), Gate())
    bench.stub.on(.get, "/text", replies: [.text("old").waiting(for: gate)])
    let older = start(request(.cancelPrevious))
    try await bench.stub.waitForExchanges(1)
    let request = request(.cancelPrevious)
    let newer = Task { [bench] in
      try? await late.wait()
      return await bench.api.result(of: request)
    }
    newer.cancel()
    #expect(await newer.value.error?.cancellation == .caller)
    gate.open()
    #expect(try await older.value.get() == "old")
    #expect(bench.isClean && bench.stub.exchanges.count == 1)
  }

  @Test("Replace: a value that arrived before its caller resumed never reaches the app")
  func replaceAfterArrival() async throws {
    let executor = ManualExecutor()
    let bench = CallBench(executor: executor)
    bench.stub.on(.get, "/text", replies: [.text("old"), .text("new")])
    let request = request(.cancelPrevious)
    // The older caller's executor is paused: the call's value arrives, but the caller does not resume.
    let olderCaller = ManualExecutor()
    let older = Task(executorPreference: olderCaller) { await bench.api.result(of: request) }
    olderCaller.runAll()
    executor.runAll()
    #expect(bench.stub.exchanges.map(\.outcome) == [.replied])
    #expect(olderCaller.pendingJobCount == 1)
    let newer = Task(executorPreference: executor) { await bench.api.result(of: request) }
    executor.runNext()
    olderCaller.runAll()
    executor.runAll()
    #expect(await older.value.error?.cancellation == .superseded)
    #expect(try await newer.value.get() == "new")
    #expect(bench.log.ends.map(\.kind) == [.failed(.cancelled), .succeeded])
  }

  @Test("Of a hundred calls with one id, the last returns a value; failed calls are superseded", arguments: 0..<10)
  func taps(seed: UInt64) async throws {
    var generator = SeededGenerator(seed: seed)
    let executor = ManualExecutor()
    let bench = CallBench(executor: executor)
    bench.stub.on(where: { _, _ in true }, reply: { .text($0.target) })
    var taps: [Task<Result<String, CallError>, Never>] = []
    for number in 0..<100 {
      let request = Request<String>.get("/\(number)").latestWins("search")
      taps.append(Task(executorPreference: executor) { await bench.api.result(of: request) })
      // Callers resume in order; all other jobs run in any order.
      executor.runNext()
      for _ in 0..<Int.random(in: 0...4, using: &generator) { executor.runNext(using: &generator) }
    }
    while executor.runNext(using: &generator) {}
    var values: [String] = []
    for tap in taps {
      switch await tap.value {
      case .success(let value): values.append(value)
      case .failure(let error): #expect(error.cancellation == .superseded)
      }
    }
    // An early call may return its value before the next call starts.
    #expect(values.last != nil)
    #expect(bench.log.ends.count == 100)
    #expect(bench.isClean)
  }
}

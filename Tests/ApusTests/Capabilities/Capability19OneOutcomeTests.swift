import Apus
import ApusTesting
import TestSupport
import Testing

@Suite("19: exactly one outcome")
struct Capability19OneOutcomeTests {
  /// An observer that counts starts and ends of calls.
  private final class Counter: CallObserver {
    let ends = Counts()

    func observe(_ event: TraceEvent, of call: CallEntry) {
      switch event.kind {
      case .succeeded, .failed: ends.add(call.serial)
      default: break
      }
    }
  }

  private actor Random {
    var generator: SeededGenerator
    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }
    func next(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &generator) }
  }

  /// Waits until no call has or awaits a permit, because a shared exchange continues for a moment after its last caller
  /// has left.
  private func settled(_ scheduler: Scheduler) async -> Bool {
    try? await waitWhile(scheduler.runningCount + scheduler.queuedCount > 0)
    return scheduler.runningCount + scheduler.queuedCount == 0
  }

  @Test("10,000 mixed calls with random cancellations each end once, and no resource is leaked")
  func storm() async throws {
    let stub = StubTransport()
    stub.on(.get, "/good", reply: .json(#"{"id":1,"name":"a"}"#))
    stub.on(.get, "/bad", reply: .json(#"{"id":"x"}"#))
    stub.on(.get, "/refused", reply: .status(503))
    stub.on(.get, "/pieces", reply: .pieces([#"{"id":1,"#, #""name":"a"}"#]))
    stub.on(.get, "/broken", reply: .pieces(["{"]).failing(after: 1))
    stub.on(.get, "/stalled", reply: .stalled)
    let (counter, scheduler) = (Counter(), Scheduler(.app))
    let api = Client(baseURL: "https://example.test", transport: stub) {
      $0.apply(.app)
      $0.scheduler = scheduler
      $0.retry.baseDelay = .milliseconds(1)
      // No breaker, because an open circuit would refuse most calls.
      $0.breaker = nil
      $0.observers = [counter]
    }
    let paths: [RequestPath] = ["/good", "/bad", "/refused", "/pieces", "/broken", "/stalled", "/\("..")"]
    let policies: [DuplicatePolicy] = [.allow, .refuse, .cancelPrevious, .coalesce]
    let outcomes = Counts()
    let random = Random(seed: 19)
    for _ in 0..<20 {
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<500 {
          let (path, policy, id, cancel) = (
            await random.next(paths.count), await random.next(4), await random.next(20), await random.next(3)
          )
          group.addTask {
            var request = Request<User>.get(paths[path])
            if id < 15 { request = request.id(CallID("id\(id)"), onDuplicate: policies[policy]) }
            let call = Task { [request] in try await api.send(request) }
            // Calls with endless responses must be cancelled; some other calls are cancelled too, at random moments.
            if cancel == 0 || path == 5 { call.cancel() }
            _ = await call.result
            outcomes.add(0)
          }
        }
      }
    }
    #expect(outcomes.count(of: 0) == 10_000)
    #expect(api.calls.isEmpty)
    try await stub.waitUntilIdle()
    #expect(await settled(scheduler))
    // Some calls were retried and some queued.
    #expect(stub.exchanges.contains { $0.attempt > 1 })
    // Includes calls that were cancelled, refused or lost a race.
    #expect(counter.ends.all.count == 10_000)
    #expect(counter.ends.all.values.allSatisfy { $0 == 1 })
  }
}

import ApusTesting
import HTTPTypes
import TestSupport
import Testing

@testable import ApusCore
@testable import ApusMiddleware

@Suite("Scheduling: shared exchanges")
struct SharedPriorityTests {
  private let stub = StubTransport.answering()
  private let scheduler = Scheduler(ConcurrencyLimits(global: 1))
  private let gate = Gate()
  private let shared = Request<Void>.step("shared").coalesced()
  private let api: Client

  init() {
    stub.on(.get, "/v1/first", reply: .status(204).waiting(for: gate))
    var client = TestClient()
    client.settings.runtime.clock = ManualClock(.manual)
    api = client.scheduled(by: scheduler).over(stub)
  }

  private func start(_ request: Request<Void>) -> Task<CallError?, Never> {
    Task { [api] in await failure { try await api.send(request) } }
  }

  private var joined: Int {
    api.calls.all.count { $0.trace.events.contains { if case .coalesced = $0.kind { true } else { false } } }
  }

  private var queued: Int {
    api.calls.all.count { $0.trace.events.contains { if case .queued = $0.kind { true } else { false } } }
  }

  /// Starts three calls: one runs, then a shared call of low priority waits, and behind it a call of normal priority.
  private func waiting() async throws -> [Task<CallError?, Never>] {
    var calls = [start(.step("first"))]
    try await gate.waitForArrivals(1)
    let requests: [Request<Void>] = [shared.priority(.low), .step("other").priority(.normal)]
    for request in requests {
      calls.append(start(request))
      try await waitWhile(queued < calls.count - 1)
    }
    return calls
  }

  @Test(
    "A call that joins a queued exchange raises the exchange's priority if its own priority is higher",
    arguments: [CallPriority.high, .background])
  func joins(priority: CallPriority) async throws {
    var calls = try await waiting()
    calls.append(start(shared.priority(priority)))
    try await waitWhile(joined < 1)
    #expect(scheduler.queuedCount == 2)
    gate.open()
    for call in calls { #expect(await call.value == nil) }
    let order = priority == .high ? ["first", "shared", "other"] : ["first", "other", "shared"]
    #expect(stub.exchanges.map(\.target) == order.map { "/v1/\($0)" })
    #expect(scheduler.runningCount == 0 && scheduler.queuedCount == 0)
  }

  @Test("A shared exchange keeps its rank when the urgent call leaves, and ends with its last call")
  func leaves() async throws {
    var calls = try await waiting()
    calls.append(start(shared.priority(.immediate)))
    try await waitWhile(joined < 1)
    calls[3].cancel()
    #expect(await calls[3].value?.isCancellation == true)
    #expect(scheduler.queuedCount == 2)
    gate.open()
    for call in calls.prefix(3) { #expect(await call.value == nil) }
    #expect(stub.exchanges.map(\.target) == ["/v1/first", "/v1/shared", "/v1/other"])
  }

  @Test("A queued exchange leaves the queue when all its calls have left")
  func abandoned() async throws {
    let calls = try await waiting()
    calls[1].cancel()
    #expect(await calls[1].value?.isCancellation == true)
    try await waitWhile(scheduler.queuedCount > 1)
    gate.open()
    for index in [0, 2] { #expect(await calls[index].value == nil) }
    #expect(stub.exchanges.map(\.target) == ["/v1/first", "/v1/other"])
    #expect(scheduler.runningCount == 0)
  }

  @Test("An attempt has the highest priority of the calls that wait for it")
  func attempts() {
    let sharers = Sharers()
    var newcomer = SchedulerBench.newcomer()
    newcomer.priority = .immediate
    #expect(newcomer.withHighestPriority(of: nil).priority == .immediate)
    #expect(newcomer.withHighestPriority(of: sharers).priority == .immediate)
    var values = ContextValues()
    values[CallPriorityKey.self] = .low
    sharers.join(Sharers.Member(values: values, taskPriority: .high), serial: 1)
    #expect(newcomer.withHighestPriority(of: sharers).priority == .low)
    sharers.join(Sharers.Member(values: ContextValues(), taskPriority: .medium), serial: 2)
    #expect(newcomer.withHighestPriority(of: sharers).priority == .normal)
    sharers.leave(2)
    #expect(newcomer.withHighestPriority(of: sharers).priority == .low)
  }
}

import ApusCore
import ApusTesting
import HTTPTypes
import Testing

@Suite("Coalesced calls: cancellation, deadlines and completion")
struct CoalescingEndsTests {
  private let bench = CoalescingBench()
  private var gate: Gate { bench.gate }

  @Test("Cancelling one coalesced call does not affect the other calls", arguments: [0, 1, 2])
  func oneLeaves(index: Int) async throws {
    let calls = try await bench.share([.shared, .shared, .shared])
    calls[index].cancel()
    #expect(await calls[index].value.error?.cancellation == .caller)
    #expect(bench.stub.openExchanges.count == 1)
    gate.open()
    for other in calls.indices where other != index { #expect(try await calls[other].value.get() == "ok") }
    #expect(bench.stub.exchanges.map(\.outcome) == [.replied])
    #expect(bench.isClean)
  }

  @Test("A deadline ends only its own call, with the request state maybeSent", arguments: [0, 1])
  func deadline(index: Int) async throws {
    var requests: [Request<String>] = [.shared, .shared]
    requests[index] = requests[index].timeout(.seconds(1))
    let calls = try await bench.share(requests)
    try await bench.clock.waitForSleepers(1)
    bench.clock.advance(by: .seconds(1))
    let error = try #require(await calls[index].value.error)
    #expect(error.code == .timeout && error.requestState == .maybeSent)
    #expect(bench.stub.openExchanges.count == 1)
    gate.open()
    #expect(try await calls[1 - index].value.get() == "ok")
    #expect(bench.stub.exchanges.map(\.outcome) == [.replied])
  }

  @Test("Each call ends at its own deadline, and the exchange ends with the last call")
  func deadlines() async throws {
    let calls = try await bench.share([3, 1, 2].map { Request<String>.shared.timeout(.seconds($0)) })
    for (passed, index) in [1, 2, 0].enumerated() {
      try await bench.clock.waitForSleepers(1)
      bench.clock.advance(by: .seconds(1))
      #expect(await calls[index].value.error?.code == .timeout)
      #expect(bench.api.calls.count == 2 - passed)
      if passed < 2 { #expect(bench.stub.openExchanges.count == 1) }
    }
    try await bench.stub.waitUntilIdle()
    #expect(bench.stub.exchanges.map(\.outcome) == [.cancelled])
  }

  @Test("Cancelling the last coalesced call cancels the exchange, and the next call starts a new exchange")
  func allLeave() async throws {
    bench.stub.on(.get, "/user", replies: [.text("old").waiting(for: gate), .text("new")])
    let calls = try await bench.share([.shared, .shared])
    for call in calls { call.cancel() }
    for call in calls { #expect(await call.value.error?.isCancellation == true) }
    #expect(try await bench.api.send(Request<String>.shared) == "new")
    try await bench.stub.waitUntilIdle()
    #expect(bench.stub.exchanges.map(\.outcome) == [.cancelled, .replied])
    #expect(bench.isClean)
  }

  @Test("A call made after the end of the shared exchange starts a new exchange")
  func afterwards() async throws {
    bench.stub.on(.get, "/user", replies: [.text("first"), .text("second")])
    #expect(try await bench.api.send(Request<String>.shared) == "first")
    #expect(try await bench.api.send(Request<String>.shared) == "second")
  }

  @Test("A superseding call joins the exchange of the superseded call only if a third call shares the exchange")
  func superseded() async throws {
    // Runs jobs one by one: a superseded call that does not yet wait for its exchange would still share it.
    let executor = ManualExecutor()
    let bench = CoalescingBench(executor: executor)
    bench.stub.on(.get, "/user", replies: [.text("old").waiting(for: gate), .text("new").waiting(for: gate)])
    func start(_ request: Request<String>) -> Task<Result<String, CallError>, Never> {
      defer { executor.runAll() }
      return Task(executorPreference: executor) { await bench.api.result(of: request) }
    }
    let older = start(.shared.latestWins("user"))
    let newer = start(.shared.latestWins("user"))
    #expect(await older.value.error?.cancellation == .superseded)
    #expect(bench.stub.exchanges.map(\.outcome) == [.cancelled, .inFlight])
    let other = start(.shared)
    let newest = start(.shared.latestWins("user"))
    #expect(await newer.value.error?.cancellation == .superseded)
    #expect(bench.joined == 2)
    gate.open()
    executor.runAll()
    #expect(try await other.value.get() == "new")
    #expect(try await newest.value.get() == "new")
    #expect(bench.stub.exchanges.map(\.outcome) == [.cancelled, .replied])
  }

  @Test("Middlewares can read the calls that currently share the exchange, including calls that join later")
  func sharers() async throws {
    let told = Log<Int>()
    let (requested, mayContinue) = (Gate(), Gate())
    let asking = Doing { request, context, next in
      let listening = context.sharers?.listen { told.add($0.values[Level.self]) }
      requested.open()
      try await mayContinue.wait()
      listening?.end()
      told.add(-(context.sharers?.members.count ?? 0))
      return try await next(request, context: context)
    }
    let bench = CoalescingBench(middlewares: [(asking, .retry)])
    bench.gate.open()
    func start(_ level: Int) -> Task<Result<String, CallError>, Never> {
      bench.start(.shared.setting(Level.self, level))
    }
    var calls = [start(1)]
    try await requested.wait()
    for level in [2, 3] {
      calls.append(start(level))
      try await bench.waitForJoined(level - 1)
    }
    calls[1].cancel()
    #expect(await calls[1].value.error?.isCancellation == true)
    mayContinue.open()
    for index in [0, 2] { #expect(try await calls[index].value.get() == "ok") }
    #expect(told.all == [1, 2, 3, -2])
    // A call that does not share its exchange has no sharers.
    _ = try await bench.api.send(Request<String>.get("/user"))
    #expect(told.all.last == 0)
  }
}

private enum Level: ContextKey {
  static var defaultValue: Int { 0 }
  static var affectsCoalescing: Bool { false }
}

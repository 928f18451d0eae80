import ApusCore
import HTTPTypes
import TestSupport
import Testing

@testable import ApusTesting

private func at(_ seconds: Int) -> MonotonicInstant { MonotonicInstant(sinceStart: .seconds(seconds)) }

/// A middleware that sets a deadline of five seconds for every attempt.
private struct ShortAttempts: Middleware {
  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    var context = context
    context.limitAttempt(to: context.now.advanced(by: .seconds(5)))
    return try await next(request, context: context)
  }
}

@Suite("A clock that advances automatically")
struct AutomaticClockTests {
  private let clock = ManualClock()
  private let stub = StubTransport()

  private func client(_ middlewares: any Middleware...) -> Client {
    var settings = ClientSettings()
    settings.runtime.clock = clock
    var pipeline = Pipeline()
    for middleware in middlewares { pipeline.insert(middleware, .after(.attemptTimeout)) }
    return Client(
      environment: Environment(baseURL: "https://x.test"), pipeline: pipeline, transport: stub, settings: settings)
  }

  @Test("A delayed reply arrives at its instant on an automatic clock")
  func delayed() async throws {
    stub.onAny(reply: .text("late").after(.seconds(59)))
    let response = try await client().response(to: Request<String>.get("/text"))
    #expect(response.value == "late")
    #expect(response.trace.events.last?.instant == at(59))
  }

  @Test("Paced content arrives at its instants on an automatic clock")
  func paced() async throws {
    stub.onAny(reply: .pieces(["a", "b"]).paced(every: .seconds(10)))
    #expect(try await client().send(Request<String>.get("/text")) == "ab")
    #expect(clock.now == at(20))
  }

  @Test("Replies with different delays arrive in order of their instants")
  func order() async throws {
    let ends = Log<MonotonicInstant>()
    let ready = Gate()
    stub.on(
      where: { _, _ in true },
      reply: { exchange in
        // The first two exchanges wait for the third at a gate, so that all delays begin at the same instant.
        if exchange.id == 2 { ready.open() }
        try await ready.wait()
        return .text("").after(.seconds([3, 1, 2][exchange.id]))
      })
    let api = client()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<3 {
        group.addTask {
          let response = try await api.response(to: Request<String>.get("/text"))
          ends.add(response.trace.events.last?.instant ?? at(0))
        }
      }
      try await group.waitForAll()
    }
    #expect(ends.all.sorted() == [at(1), at(2), at(3)])
    #expect(clock.now == at(3))
  }

  @Test("Each of many concurrent delays ends exactly at its instant")
  func many() async throws {
    let delays = Log<Duration>()
    let (api, stub, clock) = (client(), stub, clock)
    stub.on(
      where: { _, _ in true },
      reply: { exchange in
        delays.add(clock.now.sinceStart + .seconds(exchange.id % 7))
        return .text("").after(.seconds(exchange.id % 7))
      })
    let ends = try await withThrowingTaskGroup(of: Duration?.self) { group in
      for _ in 0..<100 {
        group.addTask {
          try await api.response(to: Request<String>.get("/text")).trace.events.last?.instant.sinceStart
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(ends.compactMap { $0 }.sorted() == delays.all.sorted())
  }

  @Test("A stalled reply ends at the deadline of its attempt on an automatic clock")
  func stalled() async throws {
    stub.onAny(reply: .stalled)
    let error = await failure { try await client(ShortAttempts()).send(Request<String>.get("/text")) }
    #expect(error?.code == .timeout)
    #expect(clock.now == at(5))
  }

  @Test("An automatic clock does not advance to a call's deadline while that call waits for a gate", arguments: 0..<20)
  func gate(round: Int) async throws {
    let gate = Gate()
    stub.on(.get, "/held", reply: .text("held").waiting(for: gate))
    stub.on(.get, "/late", reply: .text("late").after(.seconds(120)))
    let (short, long) = (client(ShortAttempts()), client())
    async let held = short.send(Request<String>.get("/held"))
    async let late = long.send(Request<String>.get("/late"))
    try await gate.waitForArrivals(1)
    // The sleepers are the deadline and the delay.
    try await clock.waitForSleepers(2)
    #expect(clock.now == at(0))
    gate.open()
    #expect(try await held == "held")
    #expect(try await late == "late")
    #expect(clock.now == at(120))
  }

  @Test("A timeout alone does not advance an automatic clock")
  func timeoutAlone() async throws {
    let (gate, entered) = (Gate(), Gate())
    stub.on(
      where: { _, _ in true },
      reply: { _ in
        entered.open()
        try await gate.wait()
        return .text("held")
      })
    let api = client(ShortAttempts())
    async let text = api.send(Request<String>.get("/text"))
    try await entered.wait()
    gate.open()
    #expect(try await text == "held")
    #expect(clock.now == at(0))
  }

  @Test("A task outside of all clients can sleep on an automatic clock")
  func ownSleep() async throws {
    try await clock.sleep(until: at(60))
    #expect(clock.now == at(60))
    clock.advance(by: .seconds(1))
    #expect(clock.now == at(61))
  }

  @Test("An automatic clock does not replace a client's own executor")
  func ownExecutor() async throws {
    stub.onAny(reply: .text("a"))
    let executor = ManualExecutor(.forward)
    var settings = ClientSettings()
    settings.runtime.clock = clock
    settings.runtime.executor = executor
    let api = Client(environment: Environment(baseURL: "https://x.test"), transport: stub, settings: settings)
    #expect(try await api.send(Request<String>.get("/text")) == "a")
    #expect(executor.jobCount > 0)
  }
}

@Suite("The state of a clock that advances automatically")
struct ManualClockStateTests {
  private typealias State = ManualClockState<String>

  private func state(_ waits: [(Int, State.Wait)], isAutomatic: Bool = true) -> State {
    var state = State(now: at(0), isAutomatic: isAutomatic)
    for (seconds, wait) in waits {
      _ = state.sleep("\(seconds)", until: at(seconds), id: state.newID(), wait: wait)
    }
    return state
  }

  @Test("Only a delay advances an automatic clock, to the earliest instant of all sleepers")
  func delays() {
    #expect(!state([]).isIdle())
    #expect(!state([(60, .timeout)]).isIdle())
    #expect(!state([(9, .delay())], isAutomatic: false).isIdle())
    var both = state([(60, .delay()), (5, .timeout)])
    #expect(both.isIdle())
    #expect(both.advanceToNextWake() == ["5"])
    #expect(both.now == at(5))
    #expect(both.advanceToNextWake() == ["60"])
    #expect(!both.isIdle())
  }

  @Test("An automatic clock does not advance while a job is enqueued or running")
  func jobs() {
    var state = state([(9, .delay())])
    state.jobs = 1
    #expect(!state.isIdle())
    #expect(state.isIdle(besides: 1))
  }

  @Test("Work outside of the clients stops an automatic clock, unless that work sleeps on the clock")
  func outside() {
    var state = state([(9, .delay())])
    state.begin(1)
    #expect(!state.isIdle())
    _ = state.sleep("7", until: at(7), id: 10, wait: .timeout)
    #expect(!state.isIdle())
    _ = state.sleep("8", until: at(8), id: 11, wait: .delay(within: [3, 1]))
    #expect(state.isIdle())
    state.begin(2)
    #expect(!state.isIdle())
    state.end(2)
    #expect(state.cancel(id: 11) == "8")
    #expect(!state.isIdle())
    state.end(1)
    #expect(state.isIdle())
  }

  @Test("An endless sleeper does not advance an automatic clock, but allows advancing to other sleepers' instants")
  func endless() {
    var state = State(now: at(0), isAutomatic: true)
    _ = state.sleep("stalled", until: .never, id: 1, wait: .delay())
    #expect(!state.isIdle())
    _ = state.sleep("timeout", until: at(5), id: 2, wait: .timeout)
    #expect(state.isIdle())
  }
}

import ApusCore
import ApusMiddleware
import ApusTesting
import HTTPTypes
import TestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Scheduling")
struct SchedulingMiddlewareTests {
  private let stub = StubTransport()
  private let clock = ManualClock(.manual)
  private let gate = Gate()

  private func client(_ scheduler: Scheduler) -> TestClient {
    var client = TestClient()
    client.settings.runtime.clock = clock
    return client.scheduled(by: scheduler)
  }

  /// A scheduler with a global limit of one.
  private let single = Scheduler(ConcurrencyLimits(global: 1))

  /// Sets replies that wait for the gate.
  private func answerLate() {
    stub.onAny(reply: .status(204).waiting(for: gate))
  }

  @Test("The number of concurrent calls never exceeds the limit, and all calls get responses")
  func bounded() async throws {
    let counted = Counted(inside: Log<Int>())
    let scheduler = Scheduler(ConcurrencyLimits(global: 3, perOrigin: 3))
    stub.onAny(reply: .status(204))
    var client = client(scheduler)
    let scheduling = client.customize
    client.customize = {
      scheduling(&$0)
      $0.insert(counted, .before(.transport))
    }
    let api = client.over(stub)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<60 { group.addTask { try await api.send(.ping) } }
      try await group.waitForAll()
    }
    var (now, most) = (0, 0)
    for change in counted.inside.all {
      now += change
      most = max(most, now)
    }
    #expect(now == 0 && most <= 3)
    #expect(stub.exchanges.count == 60)
    #expect(scheduler.runningCount == 0 && scheduler.queuedCount == 0)
  }

  @Test("A queued call is in the phase waiting, and its trace has the limit and the duration")
  func trace() async throws {
    answerLate()
    let scheduler = single
    let api = client(scheduler).over(stub)
    let first = Task { try await api.send(.step("first")) }
    try await stub.waitForExchanges(1)
    let second = Task { try await api.response(to: .step("second").tag("waits")) }
    try await scheduler.waitForWaiting(1)
    try await waitWhile(api.calls.calls(tag: "waits").first?.trace.events.last?.kind != .queued(.global(limit: 1)))
    #expect(api.calls.calls(tag: "waits").first?.phase == .waiting)
    clock.advance(by: .milliseconds(40))
    gate.open()
    try await first.value
    let trace = try await second.value.trace
    #expect(trace.events.contains { $0.kind == .admitted(after: .milliseconds(40)) })
  }

  @Test("A call that need not wait has no scheduling events in its trace")
  func untroubled() async throws {
    stub.onAny(reply: .status(204))
    let trace = try await client(Scheduler()).over(stub).response(to: .ping).trace
    #expect(trace.events.map(\.kind).prefix(3) == [.started, .prepared, .exchangeStarted])
  }

  @Test(
    "A streamed call returns its permit at the head, however much content is read", arguments: [true, false])
  func streamed(isReadToTheEnd: Bool) async throws {
    stub.onAny(reply: .pieces(["a", "b"]))
    let scheduler = single
    let api = client(scheduler).over(stub)
    let running = try await api.withResponse(to: Request<String>.get("/s")) { (response: inout StreamedResponse) in
      _ = try await response.next()
      let running = scheduler.runningCount
      // A call inside the stream's closure gets the permit.
      try await api.send(.step("inside"))
      while isReadToTheEnd, try await response.next() != nil {}
      return running
    }
    #expect(running == 0)
    #expect(scheduler.runningCount == 0)
    try await api.send(.step("s"))
  }

  @Test("Five open event streams do not delay other calls to their server")
  func eventStreams() async throws {
    stub.on(.get, "/v1/events", reply: .pieces(["a"]).stalled(after: 1))
    stub.on(.get, "/v1/users", reply: .status(204))
    let scheduler = Scheduler(ConcurrencyLimits(global: 64, perOrigin: 5))
    let api = client(scheduler).over(stub)
    let opened = (0..<5).map { _ in Gate() }
    let streams = opened.map { gate in
      Task {
        try await api.withResponse(to: Request<Data>.get("/events")) { response in
          _ = try await response.next()
          gate.open()
          while try await response.next() != nil {}
        }
      }
    }
    for gate in opened { try await gate.wait() }
    let trace = try await api.response(to: .step("users")).trace
    #expect(!trace.events.contains { if case .queued = $0.kind { true } else { false } })
    #expect(api.calls.count == 5 && scheduler.runningCount == 0)
    for stream in streams { stream.cancel() }
    for stream in streams { _ = await stream.result }
  }

  @Test("A tag's limit counts a stream until the stream ends, and does not delay calls without the tag")
  func streamsByTag() async throws {
    stub.on(.get, "/v1/file", reply: .pieces(["a", "b"]))
    stub.on(.get, "/v1/users", reply: .status(204))
    let scheduler = Scheduler(ConcurrencyLimits(global: 1, perOrigin: 1, tags: ["downloads": 1]))
    let api = client(scheduler).over(stub)
    let request = Request<Data>.get("/file").tag("downloads")
    let next = try await api.withResponse(to: request) { response in
      _ = try await response.next()
      try await api.send(.step("users"))
      let next = Task { try await api.withResponse(to: request) { try await $0.collect() } }
      try await scheduler.waitForWaiting(1)
      #expect(scheduler.runningCount == 0)
      return next
    }
    #expect(try await next.value.count == 2)
    #expect(scheduler.queuedCount == 0)
  }

  @Test(
    "A stream with an error status, or cancelled before its head, leaks no permit", arguments: [true, false])
  func refusedStream(isCancelled: Bool) async throws {
    stub.onAny(reply: .pieces(["no"], status: 500).waiting(for: gate))
    let scheduler = single
    let api = client(scheduler).over(stub)
    let stream = Task {
      await failure { try await api.withResponse(to: Request<Data>.get("/events").tag("events")) { _ in } }
    }
    try await gate.waitForArrivals(1)
    #expect(scheduler.runningCount == 1)
    if isCancelled { stream.cancel() } else { gate.open() }
    #expect(await stream.value?.code == (isCancelled ? .cancelled : .rejected))
    #expect(scheduler.runningCount == 0 && scheduler.queuedCount == 0)
  }

  @Test("Unscheduled long polls use no permit, do not wait for one and are not held")
  func unscheduled() async throws {
    stub.on(.get, "/v1/poll", reply: .status(204).waiting(for: gate))
    stub.on(.get, "/v1/users", reply: .status(204))
    let scheduler = single
    let api = client(scheduler).over(stub)
    scheduler.pauseAll()
    let polls = (0..<5).map { _ in Task { try await api.send(.step("poll").unscheduled()) } }
    try await gate.waitForArrivals(5)
    scheduler.resumeAll()
    try await api.send(.step("users"))
    #expect(scheduler.runningCount == 0)
    gate.open()
    for poll in polls { try await poll.value }
  }

  @Test("Calls with a paused tag are held while other calls run")
  func held() async throws {
    stub.onAny(reply: .status(204))
    let scheduler = Scheduler(.app)
    let api = client(scheduler).over(stub)
    scheduler.pause("images")
    #expect(scheduler.isPaused("images"))
    let images = (0..<8).map { number in Task { try await api.send(.step("image\(number)").tag("images")) } }
    try await scheduler.waitForWaiting(8)
    try await api.send(.step("list"))
    #expect(stub.exchanges.map(\.target) == ["/v1/list"])
    scheduler.resume("images")
    for image in images { try await image.value }
    #expect(stub.exchanges.count == 9)
    #expect(!scheduler.isPaused("images"))
  }

  @Test("While all calls are paused, messages can be created and shared work runs")
  func exempt() async throws {
    stub.onAny(reply: .status(204))
    let scheduler = Scheduler()
    let api = client(scheduler).over(stub)
    scheduler.pauseAll()
    #expect(scheduler.isAllPaused)
    _ = try await api.message(for: .ping)
    try await api.send(.ping.setting(SharedWorkKey.self, true))
    let call = Task { try await api.send(.ping) }
    try await scheduler.waitForWaiting(1)
    #expect(stub.exchanges.count == 1)
    scheduler.resumeAll()
    try await call.value
    #expect(!scheduler.isAllPaused)
  }

  @Test("Clients that share a scheduler share its limits, and a slow origin does not delay other origins")
  func shared() async throws {
    answerLate()
    let scheduler = Scheduler(ConcurrencyLimits(global: 10, perOrigin: 1))
    let slow = client(scheduler).over(stub)
    let calls = (0..<3).map { _ in Task { try await slow.send(.ping) } }
    try await scheduler.waitForWaiting(2)
    var another = TestClient("https://other.example.com")
    another.settings.runtime.clock = clock
    let other = another.scheduled(by: scheduler).over(StubTransport.answering())
    for _ in 0..<5 { try await other.send(.ping) }
    #expect(scheduler.queuedCount == 2)
    gate.open()
    for call in calls { try await call.value }
    #expect(scheduler.runningCount == 0)
  }
}

/// A middleware that records the arrival and the end of requests.
private struct Counted: Middleware {
  let inside: Log<Int>

  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    inside.add(1)
    for _ in 0..<3 { await Task.yield() }
    let response = try await next(request, context: context)
    inside.add(-1)
    return response
  }
}

import ApusTesting
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import ApusCore

@Suite("Reconnecting event streams")
struct ReconnectionTests {
  private func read(_ stream: LiveStream<String>) -> Task<(elements: [String], error: CallError?), Never> {
    Task { await stream.all() }
  }

  @Test("A stream waits for the server's reconnection time, measured with the client's clock")
  func reconnectionTime() async throws {
    let bench = StreamBench()
    bench.reply(.events("retry: 1500\ndata: a\n\n"))
    let reading = read(bench.api.stream(.events))
    #expect(try await bench.nextDelay() == .milliseconds(1500))
    #expect(bench.stub.exchanges.count == 1)
    bench.clock.advance(by: .milliseconds(1500))
    #expect(await reading.value.elements == ["a"])
    #expect(bench.stub.exchanges.count == 2)
  }

  @Test(
    "An event ID that cannot be sent in a field is ignored, and the stream continues from the previous ID",
    arguments: [
      "a\u{1}b", "\u{7F}", String(repeating: "x", count: 4097), String(repeating: "x", count: 900_000), "a\0",
    ])
  func unusableID(id: String) async throws {
    let bench = StreamBench()
    bench.reply(.events("id: 7\ndata: a\n\nid: \(id)\ndata: b\n\n"))
    let (elements, error) = await read(bench.api.stream(.events)).value
    #expect(elements == ["a", "b"] && error == nil)
    #expect(bench.lastEventIDs == [nil, "7"])
  }

  @Test("An event ID of 4 KiB is sent when the stream reconnects")
  func longID() async throws {
    let bench = StreamBench()
    let id = String(repeating: "x", count: 4096)
    bench.reply(.events("id: \(id)\ndata: a\n\n"))
    _ = await read(bench.api.stream(.events)).value
    #expect(bench.lastEventIDs == [nil, id])
  }

  @Test("The delays of consecutive failed connections grow")
  func growingDelays() async throws {
    let bench = StreamBench(random: .max)
    bench.reply(.events("data: a\n\n"), .status(503), .status(503))
    let reading = read(bench.api.stream(.events))
    for expected in [3, 6, 12] {
      let delay = try await bench.nextDelay()
      #expect(delay <= .seconds(expected) && delay > .seconds(expected) * 0.999)
      bench.clock.advanceToNextWake()
    }
    #expect(await reading.value.error == nil)
    #expect(bench.stub.exchanges.map(\.status) == [200, 503, 503, 204])
  }

  @Test("Cancelling the task during the reconnection delay ends the stream")
  func cancelledDelay() async throws {
    let bench = StreamBench(random: .max)
    bench.reply(.events("data: a\n\n"))
    let reading = read(bench.api.stream(.events))
    _ = try await bench.nextDelay()
    reading.cancel()
    let (elements, error) = await reading.value
    #expect(elements == ["a"])
    #expect(error?.cancellation == .caller)
    #expect(bench.stub.exchanges.count == 1)
    #expect(bench.isClean)
  }

  @Test("A stream can be cancelled by its tag during the reconnection delay, and observers receive no additional call")
  func cancelledByTag() async throws {
    let bench = StreamBench(random: .max)
    bench.reply(.events("data: a\n\n"))
    let reading = read(bench.api.stream(Request<EventStream<String>>.events.tag("live")))
    _ = try await bench.nextDelay()
    #expect(bench.api.calls.calls(tag: "live").count == 1)
    bench.api.calls.cancel(tag: "live")
    #expect(await reading.value.error?.cancellation == .requested)
    #expect(bench.log.ends.count == 1)
    #expect(bench.isClean)
  }

  @Test("A newer stream with the same id supersedes a stream that waits to reconnect")
  func superseded() async throws {
    let bench = StreamBench(random: .max)
    bench.reply(.events("data: a\n\n"))
    let endpoint = Request<EventStream<String>>.events.latestWins("live")
    let older = read(bench.api.stream(endpoint))
    _ = try await bench.nextDelay()
    let newer = await bench.api.stream(endpoint).all()
    #expect(newer.error == nil)
    #expect(await older.value.error?.cancellation == .superseded)
  }

  @Test("An inherited deadline ends the reconnection delay")
  func deadline() async throws {
    let bench = StreamBench(random: .max)
    bench.reply(.events("data: a\n\n"))
    let reading = Task { await bench.api.withDeadline(.seconds(1)) { await bench.api.stream(.events).all() } }
    try await waitWhile(bench.stub.exchanges.isEmpty || !bench.stub.openExchanges.isEmpty || bench.clock.sleepers < 2)
    bench.clock.advance(by: .seconds(1))
    let (elements, error) = await reading.value
    #expect(elements == ["a"])
    #expect(error?.code == .timeout)
    #expect(bench.stub.exchanges.count == 1)
    #expect(bench.isClean)
  }

  @Test("A stream without content for 90 seconds is reconnected")
  func silence() async throws {
    let bench = StreamBench()
    bench.reply(.events("id: 1\ndata: a\n\n", "data: lost\n\n").stalled(after: 1), .events("data: b\n\n"))
    let reading = read(bench.api.stream(.events))
    try await bench.clock.waitForSleepers(1)
    #expect(bench.clock.nextWake == MonotonicInstant(sinceStart: .seconds(90)))
    bench.clock.advance(by: .seconds(90))
    #expect(await reading.value.elements == ["a", "b"])
    #expect(bench.lastEventIDs == [nil, "1", "1"])
    #expect(bench.stub.exchanges.first?.outcome == .failed)
    #expect(bench.isClean)
  }

  @Test("A comment in an event stream restarts the silence timeout")
  func heartbeat() async throws {
    let bench = StreamBench()
    let gate = Gate()
    let events = Log<String>()
    bench.reply(.events(": ping\n", "data: a\n\n", gate: gate).stalled(after: 2))
    let reading = Task { for try await event in bench.api.stream(.events) { events.add(event) } }
    try await gate.waitForArrivals(1)
    try await bench.clock.waitForSleepers(1)
    bench.clock.advance(by: .seconds(60))
    gate.release()
    try await gate.waitForArrivals(2)
    bench.clock.advance(by: .seconds(60))
    // The timeout is measured from the comment.
    try await waitWhile(bench.clock.nextWake != MonotonicInstant(sinceStart: .seconds(150)))
    gate.release()
    try await events.first()
    #expect(bench.stub.exchanges.count == 1)
    reading.cancel()
    #expect(await failure { try await reading.value }?.code == .cancelled)
  }

  @Test("A silent stream that must not be reconnected fails with timeout and an error that contains the limit")
  func silentPost() async throws {
    let bench = StreamBench()
    bench.stub.on(.post, "/chat", reply: .events("data: a\n\n", "x").stalled(after: 1))
    let chat = Request<EventStream<String>>.post("/chat").streaming { $0.silenceTimeout = .seconds(5) }
    let reading = read(bench.api.stream(chat))
    try await bench.clock.waitForSleepers(1)
    bench.clock.advance(by: .seconds(5))
    let error = await reading.value.error
    #expect(error?.code == .timeout)
    #expect(error?.phase == .receiving)
    #expect(error?.detail == "no byte arrived within the silence limit of 5 s; change it with .streaming(_:)")
    #expect(bench.isClean)
  }

  @Test("The transport's stall limit is twice the silence timeout, or disabled without a silence timeout")
  func limits() async throws {
    func stall(_ endpoint: Request<some StreamedValue>) async -> Duration? {
      let seen = Log<Duration?>()
      let bench = StreamBench()
      bench.stub.on(
        where: { _, context in
          seen.add(context.values[ExchangeTimeouts.self].stall)
          return true
        }, reply: { _ in .status(204) })
      _ = await bench.api.stream(endpoint).all()
      return seen.all.first ?? nil
    }
    let events = Request<EventStream<String>>.events
    #expect(await stall(events) == .seconds(180))
    #expect(await stall(events.streaming { $0.silenceTimeout = nil }) == .endless)
    #expect(await stall(events.setting(ExchangeTimeouts.self, ExchangeTimeouts(stall: .seconds(7)))) == .seconds(7))
    #expect(await stall(Request<LineStream>.get("/lines")) == nil)
    #expect(
      await stall(Request<LineStream>.get("/lines").streaming { $0.silenceTimeout = .seconds(40) }) == .seconds(80))
  }

  @Test("The endpoint's timeout ends the stream without a reconnection")
  func ownTimeout() async throws {
    let bench = StreamBench()
    bench.reply(.events("id: 1\ndata: a\n\n", "x").stalled(after: 1))
    let reading = read(bench.api.stream(Request<EventStream<String>>.events.timeout(.seconds(10))))
    try await waitWhile(bench.clock.sleepers < 1 || bench.log.events.count < 4)
    bench.clock.advance(by: .seconds(10))
    let error = await reading.value.error
    #expect(error?.code == .timeout)
    #expect(bench.stub.exchanges.count == 1)
    #expect(bench.isClean)
  }

  @Test("A stream reconnects in the environment of its first connection")
  func environment() async throws {
    let bench = StreamBench()
    bench.reply(.events("retry: 1000\ndata: a\n\n"))
    let reading = read(bench.api.stream(.events))
    _ = try await bench.nextDelay()
    bench.api.use(Environment(baseURL: "https://other.test"))
    bench.clock.advance(by: .seconds(1))
    _ = await reading.value
    #expect(bench.stub.exchanges.map(\.request.head.authority) == ["x.test", "x.test"])
  }

  @Test("A stream ends when the principal has changed since its first connection")
  func principal() async throws {
    let account = Mutex<UInt64>(1)
    var environment = Environment(baseURL: "https://x.test")
    let bind: CallBinderKey.Binder = { _, _ in account.withLock { $0 } }
    environment.values[CallBinderKey.self] = bind
    let bench = StreamBench(environment: environment)
    bench.reply(.events("data: a\n\n"), .events("retry: 1000\ndata: b\n\n"), .events("data: c\n\n"))
    let reading = read(bench.api.stream(.events))
    _ = try await bench.nextDelay()
    account.withLock { $0 = 2 }
    bench.clock.advance(by: .seconds(1))
    let (elements, error) = await reading.value
    #expect(elements == ["a", "b"])
    #expect(error?.code == .refused)
  }
}

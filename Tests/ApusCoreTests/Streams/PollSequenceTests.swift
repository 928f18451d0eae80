import ApusTesting
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import ApusCore

private struct Changes: Codable, Sendable, Hashable {
  var items: [Int]
  var cursor: String?
}

extension Endpoint where Self == Request<Changes> {
  fileprivate static func changes(since cursor: String?) -> Self { .get("/changes", query: ["since": cursor]) }
}

@Suite("Long polling")
struct PollSequenceTests {
  private let bench = StreamBench()

  private func polls(
    of bench: StreamBench, from cursor: String? = nil, interval: Duration = .zero
  ) -> some AsyncSequence<Changes, CallError> {
    bench.api.poll(
      from: cursor, of: { Request<Changes>.changes(since: $0) }, interval: interval, next: \.cursor)
  }

  private func reply(_ number: Int, cursor: String?) -> StubReply {
    .encoded(Changes(items: [number], cursor: cursor))
  }

  @Test("After a new cursor the next poll starts at least 100 milliseconds after the start of the previous poll")
  func newCursor() async throws {
    bench.stub.on { _, _ in
      true
    } reply: { [self] in
      let reply = reply($0.id, cursor: "\($0.id)")
      return $0.id == 0 ? reply : reply.after(.milliseconds(200))
    }
    let polling = Task { [self] in
      var values = bench.api.poll(of: { Request<Changes>.changes(since: $0) }, next: \.cursor).makeAsyncIterator()
      for _ in 0..<3 { _ = try await values.next() }
    }
    #expect(try await bench.nextDelay() == .milliseconds(100))
    #expect(bench.stub.exchanges.count == 1)
    bench.clock.advance(by: .milliseconds(100))
    // The later responses take longer than the interval.
    for count in 2...3 {
      #expect(try await bench.nextDelay() == .milliseconds(200))
      #expect(bench.stub.exchanges.count == count)
      bench.clock.advance(by: .milliseconds(200))
    }
    try await polling.value
    #expect(bench.isClean)
  }

  @Test("Each poll sends the cursor of the previous response, when the loop requests the next value")
  func cursors() async throws {
    bench.stub.on(.get, "/changes", replies: [reply(1, cursor: "a"), reply(2, cursor: "b"), reply(3, cursor: "c")])
    var values = polls(of: bench).makeAsyncIterator()
    #expect(bench.stub.exchanges.isEmpty)
    for number in 1...3 {
      #expect(try await values.next()?.items == [number])
      #expect(bench.stub.exchanges.count == number)
    }
    #expect(bench.stub.exchanges.map(\.target) == ["/changes", "/changes?since=a", "/changes?since=b"])
  }

  @Test("The first poll sends the cursor that the app has stored")
  func firstCursor() async throws {
    bench.stub.onAny(reply: reply(1, cursor: "b"))
    for try await _ in polls(of: bench, from: "a") { break }
    #expect(bench.stub.exchanges.map(\.target) == ["/changes?since=a"])
  }

  @Test("Without a new cursor a poll repeats the last cursor, at most once per interval", arguments: [nil, "a"])
  func sameCursor(cursor: String?) async throws {
    bench.stub.onAny(reply: reply(1, cursor: cursor))
    let polling = Task { [self] in
      var values = polls(of: bench, from: "a", interval: .seconds(1)).makeAsyncIterator()
      _ = try await values.next()
      return try await values.next()
    }
    #expect(try await bench.nextDelay() == .seconds(1))
    #expect(bench.stub.exchanges.count == 1)
    bench.clock.advance(by: .seconds(1))
    #expect(try await polling.value?.items == [1])
    #expect(bench.stub.exchanges.map(\.target) == ["/changes?since=a", "/changes?since=a"])
  }

  @Test("A poll that took longer than the interval is followed by the next poll immediately")
  func heldResponse() async throws {
    bench.stub.onAny(reply: reply(1, cursor: nil).after(.seconds(30)))
    let polling = Task { [self] in
      var values = polls(of: bench, interval: .seconds(1)).makeAsyncIterator()
      _ = try await values.next()
      return try await values.next()
    }
    for _ in 0..<2 {
      #expect(try await bench.nextDelay() == .seconds(30))
      bench.clock.advance(by: .seconds(30))
    }
    #expect(try await polling.value?.items == [1])
    #expect(bench.clock.now == MonotonicInstant(sinceStart: .seconds(60)))
  }

  @Test(
    "An error of the first poll is thrown and ends the sequence",
    arguments: [StubReply.status(503), .status(404), .failure(TransportError(.offline, requestState: .notSent))])
  func firstError(reply: StubReply) async throws {
    bench.stub.onAny(reply: reply)
    var values = polls(of: bench).makeAsyncIterator()
    #expect(await values.failure() != nil)
    let end = try await values.next(isolation: #isolation)
    #expect(end == nil)
    #expect(bench.stub.exchanges.count == 1)
  }

  @Test("A temporary error after the first response leads to another poll with the same cursor, after a delay")
  func temporaryErrors() async throws {
    let bench = StreamBench(random: .max)
    bench.stub.on(
      .get, "/changes", replies: [reply(1, cursor: "a"), .status(503), .status(502), reply(2, cursor: "b")])
    let polling = Task { [self] in
      var values = polls(of: bench).makeAsyncIterator()
      _ = try await values.next()
      return try await values.next()
    }
    for expected in [3, 6] {
      let delay = try await bench.nextDelay()
      #expect(delay <= .seconds(expected) && delay > .seconds(expected) * 0.999)
      bench.clock.advanceToNextWake()
    }
    #expect(try await polling.value?.items == [2])
    #expect(bench.stub.exchanges.map(\.target).suffix(3) == Array(repeating: "/changes?since=a", count: 3))
    #expect(bench.isClean)
  }

  @Test("A poll sequence ends with a permanent error, or a temporary error of a POST that may have been sent")
  func permanentErrors() async throws {
    bench.stub.on(.get, "/changes", replies: [reply(1, cursor: "a"), .status(404)])
    var values = polls(of: bench).makeAsyncIterator()
    _ = try await values.next()
    #expect(await values.failure()?.status == 404)
    let end = try await values.next(isolation: #isolation)
    #expect(end == nil)
    bench.stub.on(.post, "/changes", replies: [reply(1, cursor: "a"), .status(503)])
    let posting = bench.api.poll(
      of: { (_: String?) in Request<Changes>.post("/changes") }, interval: .zero, next: \.cursor)
    var posts = posting.makeAsyncIterator()
    _ = try await posts.next()
    #expect(await posts.failure()?.status == 503)
  }

  @Test("The timeout of a poll is 10 minutes unless the endpoint sets one, and a poll that times out is repeated")
  func timeouts() async throws {
    let limits = Log<Duration?>()
    bench.stub.on(
      where: { _, context in
        limits.add(context.call.timeout)
        return true
      }, reply: { [self] exchange in exchange.id == 1 ? .stalled : reply(exchange.id, cursor: "a") })
    let polling = Task { [self] in
      var values = polls(of: bench).makeAsyncIterator()
      _ = try await values.next()
      return try await values.next()
    }
    try await bench.stub.waitForExchanges(2)
    bench.clock.advance(by: .seconds(600))
    #expect(try await polling.value?.items == [2])
    let short = bench.api.poll(
      of: { Request<Changes>.changes(since: $0).timeout(.seconds(5)) }, next: \.cursor)
    for try await _ in short { break }
    #expect(limits.all == [.seconds(600), .seconds(600), .seconds(600), .seconds(5)])
  }

  @Test("Cancelling the task ends the poll in flight")
  func cancelling() async throws {
    bench.stub.onAny(reply: .stalled)
    let polling = Task { [self] in
      var values = polls(of: bench).makeAsyncIterator()
      return try await values.next()
    }
    try await bench.stub.waitForExchanges(1)
    polling.cancel()
    let error = await failure { try await polling.value }
    #expect(error?.cancellation == .caller)
    #expect(bench.isClean)
  }

  @Test("A poll sequence ends when the principal has changed")
  func principal() async throws {
    let account = Mutex<UInt64>(1)
    var environment = Environment(baseURL: "https://x.test")
    let bind: CallBinderKey.Binder = { _, _ in account.withLock { $0 } }
    environment.values[CallBinderKey.self] = bind
    let bench = StreamBench(environment: environment)
    bench.stub.onAny(reply: reply(1, cursor: "a"))
    var values = polls(of: bench).makeAsyncIterator()
    _ = try await values.next()
    account.withLock { $0 = 2 }
    #expect(await values.failure()?.code == .refused)
    #expect(bench.stub.exchanges.count == 1)
  }
}

import ApusCore
import ApusMiddleware
import ApusTesting
import HTTPTypes
import Testing

/// Tests slow servers with the default timeouts: 10 seconds per attempt and 30 in total.
@Suite("Slow responses")
struct SlowResponseTests {
  private let bench = TimeBench()

  private func outcome<E: Endpoint>(of request: E, timeout: Duration? = .seconds(30)) async -> TimeBench.Outcome {
    let api = bench.client(timeout: timeout) {
      $0.insert(RetryMiddleware(.app), .after(.retry))
      $0.insert(AttemptTimeoutMiddleware(), .after(.attemptTimeout))
    }
    let call = bench.start(request, api)
    bench.pass(.seconds(400))
    return await call.value
  }

  private func answer(_ answers: StubReply...) {
    for method in [HTTPRequest.Method.get, .put, .post] { bench.stub.on(method, "/v1/ping", replies: answers) }
  }

  @Test("A response that takes 13 s succeeds: the second attempt gets all the remaining time")
  func report() async {
    answer(.status(204).after(.seconds(13)))
    let outcome = await outcome(of: .ping)
    #expect(outcome.error == nil)
    #expect(outcome.failedAttempts.map(\.duration) == [.seconds(10)])
    #expect(outcome.duration == .milliseconds(23_100))
  }

  @Test("A long poll with a timeout of 70 s is sent once and waits for its response")
  func longPoll() async {
    answer(.status(204).after(.seconds(65)))
    let outcome = await outcome(of: .ping.timeout(.seconds(70)))
    #expect(outcome.error == nil && outcome.duration == .seconds(65))
    #expect(bench.stub.exchanges.count == 1)
  }

  @Test("A long poll without a response ends at its timeout, sent once")
  func unansweredPoll() async {
    answer(.stalled)
    let outcome = await outcome(of: .ping.timeout(.seconds(70)))
    #expect(outcome.error?.cancellation == .deadline(.awaitingHead) && outcome.duration == .seconds(70))
    #expect(outcome.error?.detail == "exceeded the call's limit of 70 s; change it with .timeout(_:)")
    #expect(bench.stub.exchanges.count == 1)
  }

  @Test("A long poll without a timeout waits for its response")
  func noLimit() async {
    answer(.status(204).after(.seconds(300)))
    let outcome = await outcome(of: .ping.timeout(nil))
    #expect(outcome.error == nil && outcome.duration == .seconds(300))
    #expect(bench.stub.exchanges.count == 1)
  }

  @Test("A timeout of up to 30 s reserves time for a retry")
  func shortLimit() async {
    answer(.stalled, .status(204).after(.seconds(9)))
    let outcome = await outcome(of: .ping.timeout(.seconds(30)))
    #expect(outcome.error == nil && outcome.failedAttempts.map(\.duration) == [.seconds(10)])
  }

  private static let unrepeatable: [Request<Void>] = [
    .post("/ping"), .get("/ping").retry(.none), .get("/ping").idempotent(false),
    .put("/ping", content: .stream(ContentStream(length: 0, isReplayable: false) { { nil } })),
  ]

  @Test("If no retry is possible, the first attempt has all the time", arguments: unrepeatable)
  func onlyOne(request: Request<Void>) async {
    answer(.status(204).after(.seconds(29)))
    let outcome = await outcome(of: request)
    #expect(outcome.error == nil && outcome.duration == .seconds(29))
    #expect(bench.stub.exchanges.count == 1)
  }

  private static let repeatable: [Request<Void>] = [
    .get("/ping"), .put("/ping"), .post("/ping").idempotent(), .post("/ping").idempotencyKey(),
    .post("/ping").field("Idempotency-Key", "own"), .post("/ping").idempotent(false).idempotencyKey(),
  ]

  @Test(
    "If a retry is possible, the first attempt reserves time for it, and the second attempt has the rest",
    arguments: repeatable)
  func another(request: Request<Void>) async {
    answer(.stalled)
    let outcome = await outcome(of: request)
    #expect(outcome.failedAttempts.map(\.duration) == [.seconds(10)])
    #expect(bench.stub.exchanges.count == 2)
    #expect(outcome.error?.cancellation == .deadline(.awaitingHead) && outcome.duration == .seconds(30))
    #expect(outcome.error?.detail == "exceeded the default limit of 30 s; change it with .timeout(_:)")
  }

  @Test("After an attempt that timed out waiting for its response, later attempts have no attempt timeout")
  func thirdAttempt() async {
    answer(.stalled, .status(503), .status(204).after(.seconds(15)))
    let outcome = await outcome(of: .ping)
    #expect(outcome.error == nil && outcome.failedAttempts.count == 2)
  }

  @Test("The last permitted attempt has all the remaining time")
  func lastAttempt() async {
    answer(.status(503), .status(503), .status(204).after(.seconds(15)))
    let outcome = await outcome(of: .ping)
    #expect(outcome.error == nil && outcome.failedAttempts.count == 2)
  }

  @Test(
    "After an attempt that failed for a reason other than a timeout, the next attempt still reserves time for a third")
  func secondAttempt() async {
    answer(.status(503), .stalled, .status(204))
    let outcome = await outcome(of: .ping)
    #expect(outcome.error == nil && outcome.failedAttempts.map(\.duration) == [.zero, .seconds(10)])
  }

  @Test("A client with a longer timeout leaves the second attempt more time", arguments: [nil, 120])
  func longClient(seconds: Int?) async {
    answer(.status(204).after(.seconds(100)))
    let outcome = await outcome(of: .ping, timeout: seconds.map { .seconds($0) })
    #expect(outcome.error == nil && outcome.failedAttempts.map(\.duration) == [.seconds(10)])
  }

  @Test("A call's own attempt timeout applies to each attempt, and the error names the modifier")
  func ownLimit() async {
    answer(.stalled)
    let outcome = await outcome(of: .ping.attemptTimeout(.seconds(2)).timeout(.seconds(70)))
    #expect(outcome.failedAttempts.map(\.duration) == [.seconds(2), .seconds(2), .seconds(2)])
    #expect(outcome.error?.cancellation == nil)
    #expect(outcome.error?.detail == "no response within the attempt limit of 2 s; change it with .attemptTimeout(_:)")
  }

  @Test("A call that shares an exchange does not shorten the attempts of the exchange")
  func shared() async {
    answer(.status(204).after(.seconds(25)))
    let api = bench.client {
      $0.insert(RetryMiddleware(.none), .after(.retry))
      $0.insert(AttemptTimeoutMiddleware(), .after(.attemptTimeout))
    }
    let request = Request<Void>.ping.id("ping", onDuplicate: .coalesce)
    let calls = [request, request.timeout(.seconds(4))].map { bench.start($0, api) }
    bench.pass(.seconds(30))
    let outcomes = [await calls[0].value, await calls[1].value]
    #expect(outcomes.map { $0.error?.code } == [nil, .timeout])
    #expect(outcomes.map(\.duration) == [.seconds(25), .seconds(4)])
  }
}

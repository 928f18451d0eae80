import ApusCore
import ApusMiddleware
import ApusTesting
import HTTPTypes
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Retry: whole calls")
struct RetryMiddlewareTests {
  private let bench = RetryBench()
  private var stub: StubTransport { bench.stub }
  private var clock: ManualClock { bench.clock }

  private func decisions(_ error: CallError?) -> [FailedAttempt.Decision] {
    error?.failedAttempts.map(\.decision) ?? []
  }

  @Test("Temporary failures are retried after delays on the client's clock, and the trace has each attempt")
  func succeeding() async throws {
    bench.answer(.busy(), .lost, .status(204))
    let api = bench.client()
    async let outcome = api.response(to: .ping)
    try await clock.waitForSleepers(1)
    #expect(stub.openExchanges.isEmpty && stub.exchanges.count == 1)
    #expect(api.calls.all.map(\.phase) == [.waiting])
    #expect(clock.nextWake == clock.now.advanced(by: .milliseconds(100)))
    clock.advance(by: .milliseconds(100))
    try await stub.waitForExchanges(2)
    try await clock.waitForSleepers(1)
    #expect(clock.nextWake == clock.now.advanced(by: .milliseconds(200)))
    clock.advance(by: .milliseconds(200))
    let response = try await outcome
    #expect(response.head.status == .noContent)
    #expect(stub.exchanges.map(\.attempt) == [1, 2, 3])
    let start = MonotonicInstant(sinceStart: .zero)
    let later = start.advanced(by: .milliseconds(100))
    #expect(
      response.trace.failedAttempts == [
        FailedAttempt(1, in: start...start, .status(503), .retry(after: .milliseconds(100), .backoff)),
        FailedAttempt(
          2, in: later...later, .failed(.connectionLost, .maybeSent), .retry(after: .milliseconds(200), .backoff)),
      ])
    #expect(response.trace.events.filter { $0.kind == .attemptStarted }.map(\.attempt) == [2, 3])
    #expect(api.calls.isEmpty)
  }

  @Test("A failed call throws the error of the last attempt, with all attempts")
  func failing() async throws {
    bench.answer(.busy(), .busy(502), .json(#"{"title":"Down"}"#, status: 500))
    let error = try #require(await bench.outcome(bench.client()))
    #expect(error.code == .rejected && error.status == 500 && error.attempts == 3)
    #expect(error.failedAttempts.map(\.cause) == [503, 502, 500].map { FailedAttempt.Cause.status($0) })
    #expect(error.failedAttempts.map(\.attempt) == [1, 2, 3])
    #expect(decisions(error).last == .giveUp(.attemptsExhausted))
    #expect("\(error)".contains("not retried: the maximum number of attempts is reached"))
    #expect("\(error.trace)".contains("[attempt 2] attempt failed with status 502: retry in 200.000 ms"))
  }

  @Test("A first attempt that succeeds leaves no retry events")
  func atOnce() async throws {
    bench.answer(.status(204))
    let response = try await bench.client().response(to: .ping)
    #expect(response.trace.failedAttempts.isEmpty && stub.exchanges.count == 1 && clock.sleepers == 0)
  }

  // MARK: No retries

  @Test("A request on which the server may have acted is sent once, unless it is idempotent")
  func methods() async throws {
    let api = bench.client()
    bench.answer(.lost)
    let once = try #require(await bench.outcome(of: .post("/ping"), api))
    #expect(once.code == .connectionLost && decisions(once) == [.giveUp(.notIdempotent)])
    #expect("\(once)".contains("the server may have acted on the request"))
    let declared = await bench.outcome(of: .post("/ping").idempotent(), api)
    #expect(decisions(declared).count == 3)
    let put = await bench.outcome(of: .put("/ping"), api)
    #expect(decisions(put).count == 3)
    let denied = await bench.outcome(of: .ping.idempotent(false), api)
    #expect(decisions(denied) == [.giveUp(.notIdempotent)])
  }

  @Test("A call may set its own retry policy, or disable retries")
  func perCall() async throws {
    bench.answer(.busy())
    let none = await bench.outcome(of: .ping.retry(.none), bench.client())
    #expect(none?.status == 503 && none?.failedAttempts.isEmpty == true)
    #expect(stub.exchanges.count == 1)
    let five = await bench.outcome(of: .ping.retry(RetryPolicy(maximumAttempts: 5)), bench.client(.none))
    #expect(five?.attempts == 5)
    let server = await bench.outcome(of: .ping.retry(.server), bench.client())
    #expect(decisions(server).first == .retry(after: .milliseconds(25), .backoff))
  }

  @Test(
    "A permanent failure is not retried",
    arguments: [
      CallError.Code.tls, .refused, .invalidRequest, .malformedResponse, .contentTooLarge, .timeout,
    ])
  func lasting(code: CallError.Code) async {
    bench.answer(.failure(TransportError(code, in: .waiting, requestState: .notSent)))
    let error = await bench.outcome(bench.client())
    #expect(decisions(error) == [.giveUp(.notTemporary)] && stub.exchanges.count == 1)
    #expect(error.map { "\($0)".contains("not retried") } == false)
  }

  @Test("The error of another call that a call needed is rethrown unchanged")
  func others() async {
    struct Odd: Error {}
    bench.answer(.failure(Odd()))
    let error = await bench.outcome(bench.client())
    #expect(error?.underlying is Odd && error?.failedAttempts.isEmpty == true && stub.exchanges.count == 1)
  }

  // MARK: Not sent

  @Test("A request that was not sent is retried immediately, even a POST")
  func notSent() async throws {
    bench.answer(.unreachable, .status(204))
    try await bench.client().send(Request<Void>.post("/ping"))
    #expect(stub.exchanges.map(\.attempt) == [1, 2] && clock.now.sinceStart == .zero)
  }

  @Test("If only the last attempt was not sent, the error has the state maybeSent")
  func sentBefore() async throws {
    bench.answer(.lost, .unreachable)
    let error = try #require(await bench.outcome(bench.client()))
    #expect(error.code == .connectionFailed && error.requestState == .maybeSent)
    #expect(
      decisions(error) == [
        .retry(after: .milliseconds(100), .backoff), .retry(after: .zero, .notSent),
        .retry(after: .milliseconds(200), .backoff), .giveUp(.attemptsExhausted),
      ])
    bench.answer(.unreachable)
    #expect(await bench.outcome(bench.client())?.requestState == .notSent)
  }

  @Test("An error's description counts attempts as the policy does, and mentions the immediate retry")
  func countedAttempts() async throws {
    bench.answer(.unreachable)
    let unreachable = try #require(await bench.outcome(bench.client()))
    #expect(unreachable.attempts == 4 && unreachable.failedAttempts.count == 4)
    #expect(
      unreachable.description.hasSuffix(
        "[connectionFailed, notSent, 3 attempts and an immediate retry, "
          + "not retried: the maximum number of attempts is reached]"), "\(unreachable)")
    let single = try #require(await bench.outcome(bench.client(RetryPolicy(maximumAttempts: 1))))
    #expect(single.description.hasSuffix("[connectionFailed, notSent]"), "\(single)")
    bench.answer(.unreachable, .status(404))
    let rejected = try #require(await bench.outcome(bench.client()))
    #expect(
      rejected.description.hasSuffix("[rejected, responded, 1 attempt and an immediate retry]"), "\(rejected)")
  }

  // MARK: Delays and hints of the server

  @Test("The server's delay is honored, plus a little jitter")
  func serverDelay() async {
    bench.answer(
      .busy(fields: [.retryAfter: "2"]), .busy(429, fields: [.retryAfter: "1"]), .busy(fields: [.retryAfter: "9"]))
    let error = await bench.outcome(bench.client())
    #expect(
      decisions(error) == [
        .retry(after: .milliseconds(2100), .serverDelay), .retry(after: .milliseconds(1050), .serverDelay),
        .giveUp(.attemptsExhausted),
      ])
    #expect(error?.retryAfter == .seconds(9))
  }

  @Test("A server's delay in milliseconds takes precedence over a delay in seconds")
  func milliseconds() async throws {
    let name = try #require(HTTPField.Name("Retry-After-Ms"))
    bench.answer(.busy(fields: [.retryAfter: "2", name: "1500"]))
    let error = await bench.outcome(bench.client())
    #expect(decisions(error).first == .retry(after: .milliseconds(1575), .serverDelay))
    #expect(error?.retryAfter == .milliseconds(1500))
  }

  @Test("A server's delay beyond the limit ends the call, and the error has the delay")
  func tooLong() async throws {
    bench.answer(.busy(fields: [.retryAfter: "61"]))
    let error = try #require(await failure { try await bench.client().send(.ping) })
    #expect(error.code == .rejected && error.retryAfter == .seconds(61) && clock.now.sinceStart == .zero)
    #expect(decisions(error) == [.giveUp(.serverDelayTooLong)])
    bench.answer(.busy(fields: [.retryAfter: "9"]))
    let late = try #require(await failure { try await bench.client(timeout: .seconds(9)).send(.ping) })
    #expect(late.code == .rejected && late.retryAfter == .seconds(9))
    #expect(decisions(late) == [.giveUp(.deadlineTooNear)])
  }

  @Test("A retry hint field takes precedence over the status")
  func retryHint() async throws {
    let name = try #require(HTTPField.Name("X-Should-Retry"))
    bench.answer(.busy(400, fields: [name: "true"]), .busy(503, fields: [name: "false"]))
    let error = await bench.outcome(of: .post("/ping"), bench.client())
    #expect(decisions(error) == [.retry(after: .milliseconds(100), .backoff), .giveUp(.forbiddenByServer)])
  }
}

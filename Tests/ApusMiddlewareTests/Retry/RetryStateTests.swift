import ApusCore
import HTTPTypes
import Testing

@testable import ApusMiddleware

@Suite("Retry: decisions after a failure")
struct RetryStateTests {
  typealias Subject = RetryState.Subject

  /// The kinds of calls that retries distinguish.
  enum Kind: CaseIterable {
    case idempotent, plain, keyed

    var subject: Subject { Subject(isIdempotent: self == .idempotent, isKeyed: self == .keyed) }
  }

  private static let backOff = RetryDecision.retry(after: .milliseconds(100), .backoff)
  private static let throttled = RetryDecision.retry(after: .milliseconds(500), .throttled)
  private static let atOnce = RetryDecision.retry(after: .zero, .notSent)

  private func decision(
    _ failure: AttemptFailure, _ kind: Kind, isReplayable: Bool = true,
    _ change: (inout RetryPolicy) -> Void = { _ in }
  ) -> RetryDecision {
    var policy = RetryPolicy.app
    change(&policy)
    var state = RetryState(policy, .default, kind.subject)
    let moment = RetryState.Moment(remaining: nil, jitter: 0.5, isReplayable: isReplayable)
    return state.decision(after: failure, moment) { _ in true }
  }

  private func refused(_ status: Int, after delay: Duration? = nil, _ retryHint: Bool? = nil) -> AttemptFailure {
    .responded(AttemptFailure.Response(status: status, delay: delay, retryHint: retryHint))
  }

  // MARK: Statuses

  @Test("Temporary statuses are retried if the call may be repeated", arguments: [408, 425, 500, 502, 503, 504])
  func passing(status: Int) {
    #expect(decision(refused(status), .idempotent) == Self.backOff)
    #expect(decision(refused(status), .keyed) == Self.backOff)
    #expect(decision(refused(status), .plain) == .giveUp(.notIdempotent))
  }

  @Test("A retry after status 429 has a longer delay")
  func tooMany() {
    #expect(decision(refused(429), .idempotent) == Self.throttled)
    #expect(decision(refused(429), .plain) == .giveUp(.notIdempotent))
  }

  @Test(
    "Final statuses are not retried",
    arguments: [400, 401, 403, 404, 410, 412, 413, 422, 501, 505, 511], Kind.allCases)
  func lasting(status: Int, kind: Kind) {
    #expect(decision(refused(status), kind) == .giveUp(.notTemporary))
  }

  @Test("409 is retried only with an idempotency key, because the first attempt is still in progress")
  func conflict() {
    #expect(decision(refused(409), .keyed) == Self.backOff)
    #expect(decision(refused(409), .idempotent) == .giveUp(.notTemporary))
    #expect(decision(refused(409), .plain) == .giveUp(.notTemporary))
  }

  @Test("413 is retried only with Retry-After")
  func tooLarge() {
    let asked = decision(refused(413, after: .seconds(2)), .idempotent)
    #expect(asked == .retry(after: .milliseconds(2100), .serverDelay))
  }

  @Test("421 is retried once immediately, whatever the method", arguments: Kind.allCases)
  func misdirected(kind: Kind) {
    #expect(decision(refused(421), kind) == Self.atOnce)
    #expect(decision(refused(421), kind) { $0.maximumAttempts = 1 } == Self.atOnce)
    var state = RetryState(.app, .default, kind.subject)
    let moment = RetryState.Moment(jitter: 0.5, isReplayable: true)
    let decisions = (0..<2).map { _ in state.decision(after: refused(421), moment) { _ in true } }
    #expect(decisions == [Self.atOnce, .giveUp(.notTemporary)])
  }

  @Test("Statuses that the app adds are retried like the default statuses")
  func ownStatuses() {
    #expect(decision(refused(404), .idempotent) { $0.statuses = [404] } == Self.backOff)
    #expect(decision(refused(503), .idempotent) { $0.statuses = [404] } == .giveUp(.notTemporary))
  }

  @Test("Non-idempotent calls are retried after 429 and 503 with Retry-After if the policy permits that")
  func didNothing() {
    let delay = Duration.seconds(1)
    for status in [429, 503] {
      #expect(decision(refused(status, after: delay), .plain) == .giveUp(.notIdempotent))
      let agreed = decision(refused(status, after: delay), .plain) { $0.retriesNonIdempotent = true }
      #expect(agreed == .retry(after: .milliseconds(1050), .serverDelay))
      #expect(decision(refused(status), .plain) { $0.retriesNonIdempotent = true } == .giveUp(.notIdempotent))
    }
    #expect(decision(refused(500, after: delay), .plain) { $0.retriesNonIdempotent = true } == .giveUp(.notIdempotent))
  }

  @Test("A retry hint field takes precedence over status and method", arguments: Kind.allCases)
  func retryHint(kind: Kind) {
    #expect(decision(refused(400, true), kind) == Self.backOff)
    #expect(decision(refused(503, true), kind) == Self.backOff)
    #expect(decision(refused(503, false), kind) == .giveUp(.forbiddenByServer))
    #expect(decision(refused(421, false), kind) == .giveUp(.forbiddenByServer))
    // Content that cannot be resent prevents a requested retry.
    #expect(decision(refused(400, true), kind, isReplayable: false) == .giveUp(.contentNotReplayable))
  }

  // MARK: No response

  @Test(
    "A request that was not sent is retried once immediately, whatever the method",
    arguments: [CallError.Code.hostNotFound, .connectionFailed, .connectionLost, .timeout], Kind.allCases)
  func notSent(code: CallError.Code, kind: Kind) {
    #expect(decision(.notSent(code), kind) == Self.atOnce)
    #expect(decision(.notSent(code), kind, isReplayable: false) == .giveUp(.contentNotReplayable))
  }

  @Test("Without a network there is no immediate retry", arguments: Kind.allCases)
  func offline(kind: Kind) {
    #expect(decision(.notSent(.offline), kind) == Self.backOff)
  }

  @Test("A retry after an attempt without a network costs no budget, but counts toward the maximum number of attempts")
  func offlineIsFree() {
    var state = RetryState(.app, .default, Kind.idempotent.subject)
    let moment = RetryState.Moment(jitter: 0.5, isReplayable: true)
    var costs: [Int] = []
    let failures = [AttemptFailure.notSent(.offline), .unknown(.offline, .maybeSent), .notSent(.offline)]
    let decisions = failures.map { failure in
      state.decision(after: failure, moment) {
        costs.append($0)
        return true
      }
    }
    #expect(costs == [0, RetryBudget.default.cost] && decisions.last == .giveUp(.attemptsExhausted))
  }

  @Test(
    "A request on which the server may have acted is retried only if it may be repeated",
    arguments: [RequestState.maybeSent, .responded])
  func unknown(state: RequestState) {
    #expect(decision(.unknown(.connectionLost, state), .idempotent) == Self.backOff)
    #expect(decision(.unknown(.timeout, state), .keyed) == Self.backOff)
    #expect(decision(.unknown(.connectionLost, state), .plain) == .giveUp(.notIdempotent))
    #expect(
      decision(.unknown(.connectionLost, state), .idempotent, isReplayable: false) == .giveUp(.contentNotReplayable))
  }

  @Test(
    "Errors are classified as temporary or final",
    arguments: [
      (TransportError(.connectionFailed, requestState: .notSent), AttemptFailure.notSent(.connectionFailed)),
      (TransportError(.connectionLost, requestState: .notSent), .notSent(.connectionLost)),
      (TransportError(.connectionLost, requestState: .maybeSent), .unknown(.connectionLost, .maybeSent)),
      (TransportError(.connectionLost, requestState: .responded), .unknown(.connectionLost, .responded)),
      (TransportError(.timeout, in: .connecting, requestState: .notSent), .notSent(.timeout)),
      (TransportError(.timeout, in: .awaitingHead, requestState: .maybeSent), .unknown(.timeout, .maybeSent)),
      (TransportError(.timeout, in: .waiting, requestState: .notSent), .lasting(.timeout, .notSent)),
      (TransportError.attemptTimedOut(in: .waiting, requestState: .notSent), .notSent(.timeout)),
      (
        TransportError(.connectionLost, requestState: .notSent).attributed(to: .content),
        .lasting(.connectionLost, .notSent)
      ),
      (
        TransportError(.connectionLost, requestState: .maybeSent).attributed(to: .content),
        .lasting(.connectionLost, .maybeSent)
      ),
      (
        TransportError(.connectionLost, requestState: .maybeSent).attributed(to: .credentials),
        .unknown(.connectionLost, .maybeSent)
      ),
      (TransportError(.tls, requestState: .notSent), .lasting(.tls, .notSent)),
      (TransportError(.refused, requestState: .notSent), .lasting(.refused, .notSent)),
      (TransportError(.invalidRequest, requestState: .notSent), .lasting(.invalidRequest, .notSent)),
      (TransportError(.malformedResponse, requestState: .responded), .lasting(.malformedResponse, .responded)),
      (TransportError(.contentTooLarge, requestState: .responded), .lasting(.contentTooLarge, .responded)),
    ] as [(TransportError, AttemptFailure)])
  func classes(error: TransportError, failure: AttemptFailure) {
    #expect(AttemptFailure(error) == failure)
    if case .lasting = failure { #expect(decision(failure, .idempotent) == .giveUp(.notTemporary)) }
  }

  @Test(
    "A retry hint is true or false; any other value is ignored",
    arguments: [("true", true), ("FALSE", false), ("", nil), ("yes", nil), ("1", nil)] as [(String, Bool?)])
  func retryHintText(text: String, retryHint: Bool?) throws {
    let name = try #require(HTTPField.Name("X-Should-Retry"))
    let head = HTTPResponse(status: .badRequest, headerFields: [name: text, .retryAfter: "3"])
    let failure = AttemptFailure(ResponseMessage(head: head), .app)
    #expect(failure == refused(400, after: .seconds(3), retryHint))
    var policy = RetryPolicy.app
    policy.retryHintFields = []
    let deaf = AttemptFailure(ResponseMessage(head: head), policy)
    #expect(deaf == refused(400, after: .seconds(3)))
  }

  // MARK: Extreme limits

  @Test("Extreme limits of a retry policy do not trap")
  func absurd() {
    let negative = decision(refused(500), .idempotent) {
      ($0.baseDelay, $0.maximumDelay) = (.seconds(-1), .seconds(-5))
    }
    #expect(negative == .retry(after: .zero, .backoff))
    #expect(decision(refused(500), .idempotent) { $0.maximumAttempts = -3 } == .giveUp(.attemptsExhausted))
    var policy = RetryPolicy(maximumAttempts: 100, baseDelay: .seconds(Int64.max))
    policy.maximumDelay = .seconds(Int64.max)
    var state = RetryState(policy, .default, Kind.idempotent.subject)
    let moment = RetryState.Moment(jitter: 0, isReplayable: true)
    for _ in 1..<100 {
      let next = state.decision(after: refused(500), moment) { _ in true }
      #expect(next == .retry(after: .zero, .backoff))
    }
    let last = state.decision(after: refused(500), moment) { _ in true }
    #expect(last == .giveUp(.attemptsExhausted))
  }

  @Test("An infinite retry delay can be described")
  func endless() {
    let endless = decision(refused(500), .idempotent) {
      ($0.baseDelay, $0.maximumDelay) = (.seconds(Int64.max), .seconds(Int64.max))
    }
    let text = "\(endless)"
    #expect(text.hasPrefix("retry in 9") && text.hasSuffix(" ms, backoff with jitter"), "\(text)")
  }
}

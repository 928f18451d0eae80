import ApusCore
import ApusMiddleware
import ApusTesting
import HTTPTypes
import Testing

@Suite("Retry: rules")
struct RetryRuleTests {
  private let bench = RetryBench()

  private var limited: RetryPolicy {
    var policy = RetryPolicy.app
    policy.rule = .rateLimitedForbidden
    return policy
  }

  private static func fields(_ pairs: [String: String]) -> HTTPFields {
    var fields = HTTPFields()
    for (name, value) in pairs { if let name = HTTPField.Name(name) { fields[name] = value } }
    return fields
  }

  /// A 403 and the delay of its retry; `nil`: it is not retried.
  struct Row: Sendable, CustomTestStringConvertible {
    let name: String
    let fields: [String: String]
    let pause: FailedAttempt.Decision?

    var testDescription: String { name }
  }

  static let date = "Thu, 01 Jan 1970 00:16:40 GMT"
  static let rows = [
    Row(name: "nothing said", fields: [:], pause: nil),
    Row(name: "Retry-After", fields: ["Retry-After": "20"], pause: .retry(after: .seconds(21), .serverDelay)),
    Row(name: "quota left", fields: ["x-ratelimit-remaining": "7"], pause: nil),
    Row(
      name: "no quota left", fields: ["x-ratelimit-remaining": "0"],
      pause: .retry(after: .milliseconds(500), .throttled)),
    Row(
      name: "no quota left until",
      fields: ["x-ratelimit-remaining": "0", "x-ratelimit-reset": "1010", "Date": date],
      pause: .retry(after: .milliseconds(10_500), .serverDelay)),
    Row(
      name: "no quota left until a time that has passed",
      fields: ["x-ratelimit-remaining": "0", "x-ratelimit-reset": "3", "Date": date],
      pause: .retry(after: .milliseconds(500), .throttled)),
    Row(
      name: "no quota left until the end of days",
      fields: ["x-ratelimit-remaining": "0", "x-ratelimit-reset": "9223372036854775807", "Date": date],
      pause: .giveUp(.serverDelayTooLong)),
    Row(
      name: "no number", fields: ["x-ratelimit-remaining": "-0", "x-ratelimit-reset": "1e30", "Date": date],
      pause: nil),
  ]

  @Test("With the rule rateLimitedForbidden, a 403 that enforces a rate limit is retried", arguments: rows)
  func forbidden(row: Row) async throws {
    bench.answer(.status(403, fields: Self.fields(row.fields)))
    let error = try #require(await bench.outcome(of: .ping, bench.client(limited)))
    #expect(error.failedAttempts.first?.decision == row.pause ?? .giveUp(.notTemporary))
    let plain = try #require(await bench.outcome(of: .ping, bench.client()))
    #expect(plain.failedAttempts.map(\.decision) == [.giveUp(.notTemporary)])
  }

  @Test("A retry rule neither makes an unsafe call retryable nor overrides a retry hint field")
  func unsafe() async throws {
    var policy = limited
    policy.retriesNonIdempotent = true
    bench.answer(.status(403, fields: Self.fields(["Retry-After": "1"])))
    let error = try #require(await bench.outcome(of: Request<Void>.post("/ping"), bench.client(policy)))
    #expect(error.failedAttempts.map(\.decision) == [.giveUp(.notIdempotent)])
    let keyed = Request<Void>.post("/ping").idempotencyKey()
    #expect(await bench.outcome(of: keyed, bench.client(policy))?.attempts == 3)
    bench.answer(.status(403, fields: Self.fields(["Retry-After": "1", "x-should-retry": "false"])))
    let refused = try #require(await bench.outcome(of: .ping, bench.client(policy)))
    #expect(refused.failedAttempts.map(\.decision) == [.giveUp(.forbiddenByServer)])
  }

  @Test("An app's retry rule can read status, fields and content, and can also prevent a retry")
  func own() async throws {
    var policy = RetryPolicy.app
    policy.rule = RetryRule("busy") { response in
      guard let content = response.content.bytes else { return .byStatus }
      return String(decoding: content, as: UTF8.self) == "busy" ? .temporary(after: .seconds(2)) : .permanent
    }
    bench.answer(.text("busy", status: 400))
    let busy = try #require(await bench.outcome(of: .ping, bench.client(policy)))
    #expect(busy.attempts == 3)
    #expect(busy.failedAttempts.first?.decision == .retry(after: .milliseconds(2100), .serverDelay))
    bench.answer(.text("broken", status: 503))
    let broken = try #require(await bench.outcome(of: .ping, bench.client(policy)))
    #expect(broken.failedAttempts.map(\.decision) == [.giveUp(.notTemporary)])
  }

  @Test("Retry rules are equal by name, and the client's rule is in its description")
  func names() {
    #expect(RetryRule("a") { _ in .byStatus } == RetryRule("a") { _ in .permanent })
    #expect(RetryRule("a") { _ in .byStatus } != RetryRule("b") { _ in .byStatus })
    #expect(limited == limited && limited != .app && Set([limited, limited]).count == 1)
    #expect("\(RetryRule.rateLimitedForbidden)" == "403 with a rate limit")
    #expect(RetryMiddleware(limited).facts.contains(.setting("rule", "403 with a rate limit")))
  }
}

public import ApusCore
public import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A policy that decides which failures are retried, how often and after which delay.
///
/// No policy retries:
///
/// - a cancelled call;
/// - a failure that would happen again: certificates, content that is too large or cannot be produced, or a refusal by
///   a middleware;
/// - content that can be sent only once;
/// - a request that was not sent completely although its server responded with success (2xx).
///
/// By default a request on which the server may have acted is retried only if that is safe: by its method, if its
/// endpoint declares it (`.idempotent()`), or with an ``IdempotencyKey``. For a redirected call this rule applies to
/// each message that was sent. ``retriesNonIdempotent`` and ``retryHintFields`` extend this to requests that the server
/// reports as not processed or as retryable.
public struct RetryPolicy: Sendable, Hashable {
  /// The treatment of the delay that a server requests (`Retry-After`, RFC 9110 §10.2.3).
  public enum ServerDelay: Sendable, Hashable {
    /// The call waits for the delay. If the delay is longer than this limit, the call fails immediately, and
    /// `retryAfter` of its error is the delay.
    case honored(upTo: Duration)
    /// The call waits for the delay, at most for this limit, plus up to a tenth as jitter.
    case clamped(to: Duration)
  }

  /// The maximum number of attempts, the first included; less than 2: no retries. One immediate retry of a request that
  /// was not sent does not count toward the maximum. Default: 3.
  public var maximumAttempts: Int
  /// The upper bound of the first delay. It doubles with every retry; the actual delay is random between zero and the
  /// bound (full jitter). Default: 200 ms.
  public var baseDelay: Duration
  /// The upper bound of the first delay after status 429. Default: 1 s.
  package var throttledBaseDelay: Duration = .seconds(1)
  /// The maximum to which the upper bound grows. Default: 20 s.
  public var maximumDelay: Duration = .seconds(20)
  /// The treatment of the delay that a server requests. Up to a tenth is added as jitter. Default: `.honored` up to 60
  /// s.
  public var serverDelay = ServerDelay.honored(upTo: .seconds(60))
  /// The statuses that are retried. In addition, 413 is retried with `Retry-After`, 409 with an idempotency key (the
  /// first attempt is still in progress), and 421 once immediately. Default: 408, 425, 429, 500, 502, 503 and 504.
  public var statuses: Set<Int> = RetryPolicy.defaultStatuses
  /// A rule for responses whose status alone does not determine whether a retry helps, for example a 403 that enforces
  /// a rate limit (``RetryRule/rateLimitedForbidden``). Default: `nil`.
  public var rule: RetryRule?
  /// Whether calls that are not idempotent are retried after a 429 or a 503 with `Retry-After`: the server then
  /// did not process the request. Default: `false`.
  public var retriesNonIdempotent = false
  /// The fields in which a server indicates with `true` or `false` whether a rejected call should be retried. They take
  /// precedence over the status and the method. Default: `x-should-retry` and `stripe-should-retry`.
  public var retryHintFields: [HTTPField.Name] = RetryPolicy.defaultRetryHintFields

  /// Creates a policy; the other properties have their defaults.
  public init(maximumAttempts: Int = 3, baseDelay: Duration = .milliseconds(200)) {
    self.maximumAttempts = maximumAttempts
    self.baseDelay = baseDelay
  }

  /// The policy for calls for which a user waits: 3 attempts, delays of up to 200 and 400 ms.
  public static let app = RetryPolicy()
  /// The policy for calls between nearby servers: 3 attempts, delays of up to 50 and 100 ms.
  public static let server = RetryPolicy(baseDelay: .milliseconds(50))
  /// No retries.
  public static let none = RetryPolicy(maximumAttempts: 1)

  /// 408, 425, 429, 500, 502, 503 and 504.
  static let defaultStatuses: Set<Int> = [408, 425, 429, 500, 502, 503, 504]
  /// `x-should-retry` and `stripe-should-retry`.
  static let defaultRetryHintFields = ["x-should-retry", "stripe-should-retry"].compactMap {
    HTTPField.Name($0)
  }
}

/// A rule that decides whether a rejected call is retried if the status alone is not sufficient.
///
/// ```swift
/// let quota = RetryRule("quota of the billing API") { response in
///   response.head.status.code == 402 && response.retryAfter != nil ? .temporary() : .byStatus
/// }
/// var policy = RetryPolicy.app
/// policy.rule = quota
/// ```
///
/// A rule extends or narrows ``RetryPolicy/statuses`` and nothing else: a call is not retried if that is not safe, if
/// no attempts, time or budget are left, or if its server sends `false` in one of the policy's
/// ``RetryPolicy/retryHintFields``.
public struct RetryRule: Sendable, Hashable, CustomStringConvertible {
  /// The decision of a rule.
  public enum Decision: Sendable, Hashable {
    /// The rule does not apply: the status decides.
    case byStatus
    /// The rejection is temporary. `after` is the delay before the retry. Default: `nil`, the delay of `Retry-After`
    /// or, without it, the backoff. After a status from 400 to 499, the backoff and the cost of a retry are the same as
    /// after 429.
    case temporary(after: Duration? = nil)
    /// The rejection is final.
    case permanent
  }

  let name: String
  let decide: @Sendable (ResponseMessage) -> Decision

  /// Creates a rule.
  ///
  /// - Parameters:
  ///   - name: the name, for `describe()`. Rules with the same name are equal: calls whose policies differ only in such
  ///     rules may be coalesced. Different rules must have different names.
  ///   - decide: returns the decision for a response with a status of 400 or more, from its head, and from its content
  ///     if that is in memory (`response.content.bytes`; `nil` for a streamed call). Called for each such response of
  ///     an attempt, on any thread; must not block.
  public init(_ name: String, decide: @escaping @Sendable (ResponseMessage) -> Decision) {
    self.name = name
    self.decide = decide
  }

  /// A rule for servers that enforce a rate limit with 403, as GitHub does with its primary and secondary limits: a 403
  /// with `Retry-After`, or with `x-ratelimit-remaining: 0`, is temporary.
  ///
  /// The delay is the value of `Retry-After`; without that field, the time from the response's `Date` to
  /// `x-ratelimit-reset` (in seconds since 1970); otherwise the backoff.
  public static let rateLimitedForbidden = RetryRule("403 with a rate limit") { response in
    guard response.head.status == .forbidden else { return .byStatus }
    if response.retryAfter != nil { return .temporary() }
    guard field("x-ratelimit-remaining", of: response) == 0 else { return .byStatus }
    guard let reset = field("x-ratelimit-reset", of: response), let date = response.date else { return .temporary() }
    let now = Int64(date.timeIntervalSince1970)
    return .temporary(after: .seconds(min(max(0, reset.subtractingReportingOverflow(now).partialValue), 1 << 31)))
  }

  private static func field(_ name: String, of response: ResponseMessage) -> Int64? {
    guard let name = HTTPField.Name(name), let text = response.head.headerFields[name] else { return nil }
    let isNumber = !text.isEmpty && text.utf8.allSatisfy { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
    return isNumber ? Int64(text) : nil
  }

  /// The name.
  public var description: String { name }

  /// Whether two rules have the same name.
  public static func == (lhs: RetryRule, rhs: RetryRule) -> Bool { lhs.name == rhs.name }

  /// Hashes the name.
  public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

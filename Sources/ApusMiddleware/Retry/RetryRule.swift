public import ApusCore
import HTTPTypes

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A rule that decides whether a rejected call is retried where the status alone does not tell.
///
/// ```swift
/// let quota = RetryRule("quota of the billing API") { response in
///   response.head.status.code == 402 && response.retryAfter != nil ? .temporary() : .byStatus
/// }
/// var policy = RetryPolicy.interactive
/// policy.rule = quota
/// ```
///
/// A rule extends or narrows ``RetryPolicy/statuses`` and nothing else: a call that is not safe to repeat is not retried,
/// nor is one without attempts, time or budget left, or one whose server says `false` in a verdict field.
public struct RetryRule: Sendable, Hashable, CustomStringConvertible {
  /// What a rule decides.
  public enum Judgement: Sendable, Hashable {
    /// The rule does not apply: the status decides.
    case byStatus
    /// The rejection is temporary. With the time to wait; `nil`, the default: as `Retry-After` says, else a back-off. The
    /// back-off and the cost of a retry after a status from 400 to 499 are those after 429.
    case temporary(after: Duration? = nil)
    /// The rejection is final.
    case lasting
  }

  /// What the rule is, for `describe()`. Rules with the same name are equal: calls whose policies differ in nothing else
  /// may share an exchange.
  public let name: String
  let judge: @Sendable (ResponseMessage) -> Judgement

  /// Makes a rule.
  ///
  /// - Parameters:
  ///   - name: what the rule is. Give different rules different names.
  ///   - judge: decides about a response with a status of 400 or more, by its head, and by its content where that is in
  ///     memory already (`response.content.bytes`; `nil` for a streamed call). Called for each such response of an
  ///     attempt, on any thread; it must not block.
  public init(_ name: String, judge: @escaping @Sendable (ResponseMessage) -> Judgement) {
    self.name = name
    self.judge = judge
  }

  /// A rule for servers that enforce a rate limit with 403, as GitHub does with its primary and secondary limits: a 403
  /// with `Retry-After`, or with `x-ratelimit-remaining: 0`, is temporary.
  ///
  /// The time to wait is that of `Retry-After`, else up to `x-ratelimit-reset`, a time in seconds since 1970, counted from
  /// the response's own `Date`. Without either it is a back-off.
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

  /// Whether both have the same name.
  public static func == (lhs: RetryRule, rhs: RetryRule) -> Bool { lhs.name == rhs.name }

  /// Hashes the name.
  public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

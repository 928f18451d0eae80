/// A middleware, transport or observer of this package that describes its settings as facts, for `Client.describe()`.
///
/// The check for conflicts reads only the facts and does not depend on types.
package protocol SelfDescribing {
  /// The default settings of calls, in the order in which they are shown.
  ///
  /// Facts are shown unmasked. Never include a credential, a query value or a field (header) value.
  var facts: [Fact] { get }
}

/// One setting of a middleware, a transport or an observer, see ``SelfDescribing``.
///
/// The check for conflicts reads all facts except ``setting(_:_:)`` and ``time(_:_:)``, which are only shown.
package enum Fact: Sendable, Hashable {
  /// The time limit of a whole call, waiting included; `nil`: none.
  case totalLimit(Duration?)
  /// The time limit of one attempt; `nil`: none.
  case attemptLimit(Duration?)
  /// The maximum number of attempts of a call, including the first attempt. Less than 2 means no retries.
  case attempts(Int)
  /// The upper bound of the delay after the first attempt, which doubles with each attempt, and the bound of all
  /// delays.
  case backoff(first: Duration, maximum: Duration)
  /// The maximum server delay (`Retry-After`) that is honored. A longer delay is reduced to the maximum if
  /// `isClamped`; otherwise the call fails immediately.
  case serverDelay(upTo: Duration, isClamped: Bool)
  /// The retry budget of an origin: its tokens, and the tokens that a retry costs. A cost of 0 means no budget.
  case budget(capacity: Int, cost: Int)
  /// The concurrency limits. `Int.max`: no limit.
  case permits(perOrigin: Int, total: Int)
  /// The rate limit: one request per interval, and a burst after an idle period.
  case rate(interval: Duration, burst: Int)
  /// A circuit opens when this share of at least `minimum` exchanges within a time window failed.
  case failureRatio(Double, minimum: Int, window: Duration)
  /// A circuit opens after this number of consecutive failures.
  case consecutiveFailures(Int)
  /// The maximum number of connections of a transport, with one exchange on each; further exchanges wait. `Int.max`:
  /// no limit.
  ///
  /// Transports that multiplex exchanges on a connection (RFC 9113 §5) do not state this fact.
  case connections(perOrigin: Int, total: Int)
  /// The cache stores responses for later processes without an account to which they belong.
  case cacheWithoutAccount
  /// A named time, for example `idle limit`; `nil`: none.
  case time(String, Duration?)
  /// Any other setting: its name, and its value as text, which may be empty.
  case setting(String, String)
}

extension Fact: CustomStringConvertible {
  /// The fact in a few words, for example `3 attempts`.
  package var description: String {
    switch self {
    case .totalLimit(let limit?): "\(limit.plainText) in total"
    case .totalLimit(nil): "no total limit"
    case .attemptLimit(let limit?): "\(limit.plainText) per attempt"
    case .attemptLimit(nil): "no limit per attempt"
    case .attempts(let number): Self.count(number, "attempt")
    case .backoff(let first, let maximum): "backoff \(first.plainText), doubling up to \(maximum.plainText)"
    case .serverDelay(let limit, let isClamped): "Retry-After \(isClamped ? "cut" : "up") to \(limit.plainText)"
    case .budget(_, 0): "no retry budget"
    case .budget(let capacity, let cost): "retry budget \(capacity) at \(cost) per retry"
    case .permits(let perOrigin, let total): Self.text(perOrigin, total, "concurrent call")
    case .rate(let interval, let burst): "1 request per \(interval.plainText), burst \(burst)"
    case .failureRatio(let ratio, let minimum, let window):
      "opens at a failure ratio of \(ratio) of at least \(minimum) exchanges in \(window.plainText)"
    case .consecutiveFailures(let number): "opens after \(Self.count(number, "consecutive failure"))"
    case .connections(let perOrigin, let total): Self.text(perOrigin, total, "connection")
    case .cacheWithoutAccount: "no responses to calls with credentials"
    case .time(let name, let time): "\(Self.line(name)) \(time?.plainText ?? "none")"
    case .setting(let name, ""): Self.line(name)
    case .setting(let name, let value): "\(Self.line(name)) \(Self.line(value))"
    }
  }

  private static func text(_ perOrigin: Int, _ total: Int, _ unit: String) -> String {
    switch (perOrigin, total) {
    case (Int.max, Int.max): "unlimited \(unit)s"
    case (Int.max, _): count(total, unit)
    case (_, Int.max): "\(count(perOrigin, unit)) per origin"
    default: "\(count(perOrigin, unit)) per origin, \(total) in total"
    }
  }

  private static func count(_ number: Int, _ unit: String) -> String { "\(number) \(unit)\(number == 1 ? "" : "s")" }

  /// Replaces line breaks with spaces, because a middleware is shown on one line.
  private static func line(_ text: String) -> String {
    text.split(whereSeparator: \.isNewline).joined(separator: " ")
  }
}

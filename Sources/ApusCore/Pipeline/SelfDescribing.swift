/// A middleware, transport or observer that tells its settings, for `Client.describe()`.
///
/// Conform to it so that a middleware of your own shows its settings and is checked for settings that contradict each other:
/// the check reads these facts and knows no types.
///
/// ```swift
/// struct Patience: Middleware, SelfDescribing {
///   let limit: Duration
///   var facts: [Fact] { [.attemptLimit(limit)] }
///
///   func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
///     try await next(request, context: context)
///   }
/// }
/// ```
public protocol SelfDescribing {
  /// The settings for calls that set nothing themselves, in the order in which they are shown.
  ///
  /// Facts are shown as they are: never include a credential, a query value or a field value.
  var facts: [Fact] { get }
}

/// One setting of a middleware, a transport or an observer, see ``SelfDescribing``.
///
/// Warnings about contradictions compare the facts with a meaning of their own; ``setting(_:_:)`` and ``time(_:_:)`` are
/// only shown.
public enum Fact: Sendable, Hashable {
  /// The time limit of a whole call, waiting included; `nil`: none.
  case totalLimit(Duration?)
  /// The time limit of one attempt; `nil`: none.
  case attemptLimit(Duration?)
  /// The most attempts of a call, including the first; less than 2: no retries.
  case attempts(Int)
  /// The upper bound of the delay after the first attempt, which doubles with each attempt, and the bound of all delays.
  case pauses(first: Duration, longest: Duration)
  /// The longest delay of a server (`Retry-After`) that is honoured. A longer one is cut to this if `isClamped`; otherwise
  /// the call fails at once.
  case serverDelay(upTo: Duration, isClamped: Bool)
  /// The retry budget of one server: its tokens, and the tokens that a retry costs; 0: no budget.
  case budget(capacity: Int, cost: Int)
  /// The concurrency limits. `Int.max`: no limit.
  case permits(perOrigin: Int, total: Int)
  /// The rate limit: one request per interval, and a burst after a quiet time.
  case rate(interval: Duration, burst: Int)
  /// A circuit opens when this share of at least `minimum` exchanges within a time window failed.
  case failureRatio(Double, minimum: Int, window: Duration)
  /// A circuit opens after this number of consecutive failures.
  case failuresInARow(Int)
  /// The most connections of a transport, with one exchange on each; other exchanges wait. `Int.max`: no limit.
  ///
  /// Not for transports that multiplex exchanges on a connection (RFC 9113 §5).
  case connections(perOrigin: Int, total: Int)
  /// A named time, for example `idle limit`; `nil`: none.
  case time(String, Duration?)
  /// Any other setting: its name, and its value as text, which may be empty.
  case setting(String, String)
}

extension Fact: CustomStringConvertible {
  /// The fact in a few words, for example `3 attempts`.
  public var description: String {
    switch self {
    case .totalLimit(let limit?): "\(limit.plainText) in all"
    case .totalLimit(nil): "no limit in all"
    case .attemptLimit(let limit?): "\(limit.plainText) an attempt"
    case .attemptLimit(nil): "no limit of an attempt"
    case .attempts(let count): count == 1 ? "1 attempt" : "\(count) attempts"
    case .pauses(let first, let longest): "pauses up to \(first.plainText) doubling to \(longest.plainText)"
    case .serverDelay(let limit, let isClamped): "a server's delay \(isClamped ? "cut" : "up") to \(limit.plainText)"
    case .budget(_, 0): "no budget"
    case .budget(let capacity, let cost): "budget \(capacity) at \(cost) an attempt"
    case .permits(let perOrigin, let total): Self.text(perOrigin, total, "at a time")
    case .rate(let interval, let burst): "1 request every \(interval.plainText) after \(burst) at once"
    case .failureRatio(let ratio, let minimum, let window):
      "opens at \(ratio) failed of at least \(minimum) in \(window.plainText)"
    case .failuresInARow(let count): "opens after \(count) \(count == 1 ? "failure" : "failures") in a row"
    case .connections(Int.max, Int.max): "any number of connections"
    case .connections(let perOrigin, let total): Self.text(perOrigin, total, "connections")
    case .time(let name, let time): "\(Self.line(name)) \(time?.plainText ?? "none")"
    case .setting(let name, ""): Self.line(name)
    case .setting(let name, let value): "\(Self.line(name)) \(Self.line(value))"
    }
  }

  private static func text(_ perOrigin: Int, _ total: Int, _ unit: String) -> String {
    switch (perOrigin, total) {
    case (Int.max, Int.max): "any number \(unit)"
    case (Int.max, _): "\(total) \(unit)"
    case (_, Int.max): "\(perOrigin) \(unit) to one origin"
    default: "\(perOrigin) \(unit) to one origin, \(total) in all"
    }
  }

  /// A layer is shown on one line, whatever its facts contain.
  private static func line(_ text: String) -> String {
    text.split(whereSeparator: \.isNewline).joined(separator: " ")
  }
}

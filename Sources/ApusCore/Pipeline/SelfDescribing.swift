/// Says what a middleware, a transport or an observer is set to, for ``Client/describe()``.
///
/// Conform to it to have a middleware of your own show its settings, and take part in the search for settings that
/// contradict each other: it goes by what is said here and knows no types.
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
  /// What it is set to for calls that say nothing else themselves, in the order in which it is shown.
  ///
  /// It is shown as it is: never put in a credential, a query's value or the value of a field.
  var facts: [Fact] { get }
}

/// One thing that a middleware or a transport is set to, see ``SelfDescribing``.
///
/// Those with a meaning of their own are also compared, see ``ClientDescription/warnings``; ``setting(_:_:)`` and
/// ``time(_:_:)`` are only shown.
public enum Fact: Sendable, Hashable {
  /// How long a whole call may take, waiting included; `nil`: for ever.
  case totalLimit(Duration?)
  /// How long one attempt of a call may take; `nil`: for ever.
  case attemptLimit(Duration?)
  /// How many attempts a call has, the first included; less than 2: nothing is tried again.
  case attempts(Int)
  /// The longest pause there is after the first attempt, which doubles with each, and the longest there ever is.
  case pauses(first: Duration, longest: Duration)
  /// The longest time that is waited because a server asks for it. A longer one is cut to this where `isClamped`, else
  /// the call fails at once.
  case serverDelay(upTo: Duration, isClamped: Bool)
  /// How much there is to spend on further attempts at one server, and what one of them costs; 0: nothing.
  case budget(capacity: Int, cost: Int)
  /// How many exchanges are let through at a time. `Int.max`: any number.
  case permits(perOrigin: Int, total: Int)
  /// Requests are let through at a pace: one in each interval, and after a quiet time so many at once.
  case rate(interval: Duration, burst: Int)
  /// Exchanges are refused once this part of at least so many within a window of time failed.
  case failureRatio(Double, minimum: Int, window: Duration)
  /// Exchanges are refused once so many in a row failed.
  case failuresInARow(Int)
  /// How many exchanges there can be at a time, one on each connection; others wait. `Int.max`: any number.
  ///
  /// Not for transports that may have several on one connection (RFC 9113 §5).
  case connections(perOrigin: Int, total: Int)
  /// A time by its name, for example `idle limit`; `nil`: none.
  case time(String, Duration?)
  /// Anything else: its name, and its value as text, which may be empty.
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

  /// A layer is told in one line, whatever it says of itself.
  private static func line(_ text: String) -> String {
    text.split(whereSeparator: \.isNewline).joined(separator: " ")
  }
}

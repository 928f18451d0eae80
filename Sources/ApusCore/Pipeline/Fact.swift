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

/// How long calls take of late, as half of them do: a running median that costs two numbers.
struct TypicalTime: Sendable, Hashable {
  /// Fewer say nothing.
  static let least = 8

  private var count = 0
  private var median = Duration.zero

  /// The median; `nil` before there were enough calls.
  var known: Duration? { count >= Self.least ? median : nil }

  /// A call has taken so long: the median moves an eighth of itself towards it, and not beyond.
  mutating func add(_ time: Duration) {
    count = min(count + 1, Self.least)
    guard count > 1 else {
      median = time
      return
    }
    // An eighth: to divide takes longer than all the rest.
    let step = max(Duration(attoseconds: median.attoseconds >> 3), .microseconds(100))
    median = time > median ? min(time, median + step) : max(time, median - step)
  }
}

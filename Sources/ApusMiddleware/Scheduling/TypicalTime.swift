/// A running median of durations, in constant space.
struct TypicalTime: Sendable, Hashable {
  /// The number of samples from which the median is used.
  static let minimum = 8

  private var count = 0
  private var median = Duration.zero

  /// The median; `nil` before there are enough samples.
  var known: Duration? { count >= Self.minimum ? median : nil }

  /// Adds a sample: the median moves toward the sample by an eighth of its own value, but not beyond the sample.
  mutating func add(_ time: Duration) {
    count = min(count + 1, Self.minimum)
    guard count > 1 else {
      median = time
      return
    }
    // Uses a shift, because a division of durations would take longer than the rest of the function.
    let step = max(Duration(attoseconds: median.attoseconds >> 3), .microseconds(100))
    median = time > median ? min(time, median + step) : max(time, median - step)
  }
}

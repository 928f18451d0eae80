extension Duration {
  /// More than anybody waits: who sets a limit beyond wants none.
  package static let endless = Duration.seconds(100 * 366 * 24 * 60 * 60)

  /// Not negative and no more than ``endless``, so that sums and multiples stay within what a duration holds.
  package var bounded: Duration { min(max(self, .zero), .endless) }

  /// The time as people write it: `200 ms`, `1.5 s`; what is less than a nanosecond is left out.
  package var plainText: String {
    guard self < .endless else { return "endless" }
    guard self >= .zero else { return "less than 0 s" }
    let (seconds, attoseconds) = components
    let nanoseconds = attoseconds / 1_000_000_000
    switch (seconds, nanoseconds) {
    case (0, 0): return "0 s"
    case (0, ..<1000): return "\(nanoseconds) ns"
    case (0, ..<1_000_000): return Self.decimal(nanoseconds) + " µs"
    case (0, _): return Self.decimal(nanoseconds / 1000) + " ms"
    default: return Self.decimal(seconds * 1000 + nanoseconds / 1_000_000) + " s"
    }
  }

  /// A number that is given in thousandths.
  private static func decimal(_ thousandths: Int64) -> String {
    guard thousandths % 1000 > 0 else { return "\(thousandths / 1000)" }
    // With the zeros it begins with, and without those it ends with.
    var digits = String(1000 + thousandths % 1000).dropFirst()
    while digits.last == "0" { digits.removeLast() }
    return "\(thousandths / 1000).\(digits)"
  }
}

extension Duration {
  /// Makes a duration of a number of seconds that somebody else chose, such as `expires_in` in an answer.
  ///
  /// `.seconds(_:)` traps for numbers that no duration can hold. This never does: what is beyond a hundred years either
  /// way is a hundred years, and what is not a number is zero.
  ///
  /// - Parameter seconds: any number, infinite ones and NaN included.
  public init(clampingSeconds seconds: Double) {
    let longest: Double = 100 * 366 * 24 * 60 * 60
    self = seconds.isNaN ? .zero : .seconds(min(max(seconds, -longest), longest))
  }
}

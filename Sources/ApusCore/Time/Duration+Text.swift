extension Duration {
  /// A hundred years. A limit of this duration or more means no limit.
  package static let endless = Duration.seconds(100 * 366 * 24 * 60 * 60)

  /// The duration clamped to zero and ``endless``, so that sums and multiples do not overflow.
  package var bounded: Duration { min(max(self, .zero), .endless) }

  /// The duration as text, for example `200 ms` or `1.5 s`, cut to nanoseconds.
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

  /// Formats a number given in thousandths.
  private static func decimal(_ thousandths: Int64) -> String {
    guard thousandths % 1000 > 0 else { return "\(thousandths / 1000)" }
    // Keeps leading zeros of the fraction and drops trailing zeros.
    var digits = String(1000 + thousandths % 1000).dropFirst()
    while digits.last == "0" { digits.removeLast() }
    return "\(thousandths / 1000).\(digits)"
  }
}

extension Duration {
  /// Creates a duration from an untrusted number of seconds, such as `expires_in` in a response.
  ///
  /// Never traps, unlike `.seconds(_:)`: numbers beyond a hundred years in either direction are clamped, and NaN is
  /// zero.
  ///
  /// - Parameter seconds: any number, including infinity and NaN.
  package init(clampingSeconds seconds: Double) {
    let longest: Double = 100 * 366 * 24 * 60 * 60
    self = seconds.isNaN ? .zero : .seconds(min(max(seconds, -longest), longest))
  }
}

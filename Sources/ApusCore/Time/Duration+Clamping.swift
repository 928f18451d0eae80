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

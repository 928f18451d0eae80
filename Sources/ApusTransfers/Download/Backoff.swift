/// The delays before a transfer continues: exponential backoff with full jitter.
enum Backoff {
  /// Returns a random time between zero and a bound that doubles from 0.5 to 20 seconds.
  ///
  /// - Parameters:
  ///   - number: the number of the continuation, from 1.
  ///   - random: 64 random bits.
  static func delay(before number: Int, random: UInt64) -> Duration {
    let bound = min(Duration.milliseconds(500) * (1 << min(max(number - 1, 0), 6)), .seconds(20))
    return bound * (Double(random >> 11) / Double(1 << 53))
  }
}

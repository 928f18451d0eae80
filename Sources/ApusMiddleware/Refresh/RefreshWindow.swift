/// A rule that decides when credentials are ageing: shortly before they expire, at a different moment in each process.
package struct RefreshWindow {
  /// The jitter of a generation. With new jitter for each message, the earliest moment would always win.
  private var jitter: (generation: UInt64, share: Double)?

  package init() {}

  /// The freshness of credentials, by their lifetime and their remaining lifetime.
  ///
  /// They are ageing in the last tenth of their lifetime, at most a minute, extended by up to a half (jitter).
  mutating func freshness(of stored: StoredCredential, random: () -> UInt64) -> RefreshState.Freshness {
    var lifetime: Duration?
    if case .tokens(let tokens)? = stored.credential { lifetime = tokens.lifetime }
    return freshness(remaining: stored.remaining, lifetime: lifetime, of: stored.generation, random: random)
  }

  /// The freshness of credentials of a generation.
  ///
  /// - Parameters:
  ///   - remaining: the remaining lifetime; `nil`: they do not expire.
  ///   - lifetime: the whole lifetime; `nil`: unknown, they are fresh until they expire.
  package mutating func freshness(
    remaining: Duration?, lifetime: Duration?, of generation: UInt64, random: () -> UInt64
  ) -> RefreshState.Freshness {
    guard let remaining else { return .fresh }
    if remaining <= .zero { return .expired }
    guard let lifetime else { return .fresh }
    let margin = min(.seconds(60), lifetime / 10)
    return remaining <= margin * (1 + share(of: generation, random) / 2) ? .ageing : .fresh
  }

  private mutating func share(of generation: UInt64, _ random: () -> UInt64) -> Double {
    if let jitter, jitter.generation == generation { return jitter.share }
    let share = Double(random() >> 11) / Double(1 << 53 as UInt64)
    jitter = (generation, share)
    return share
  }
}

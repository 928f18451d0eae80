import ApusCore

/// When credentials count as ageing: a little before their end, at another moment in each process.
struct RefreshWindow {
  /// What was drawn for a generation, once: drawn again for each message, the earliest would always win.
  private var drawn: (generation: UInt64, share: Double)?

  /// How fresh credentials are, by how long they are good and still are.
  ///
  /// They age in the last tenth of their lifetime, a minute at most, and up to half as long before that.
  mutating func freshness(of stored: StoredCredential, random: () -> UInt64) -> RefreshState.Freshness {
    guard let remaining = stored.remaining else { return .fresh }
    if remaining <= .zero { return .expired }
    guard case .tokens(let tokens)? = stored.credential, let lifetime = tokens.lifetime else { return .fresh }
    let margin = min(.seconds(60), lifetime / 10)
    return remaining <= margin * (1 + share(of: stored.generation, random) / 2) ? .ageing : .fresh
  }

  private mutating func share(of generation: UInt64, _ random: () -> UInt64) -> Double {
    if let drawn, drawn.generation == generation { return drawn.share }
    let share = Double(random() >> 11) / Double(1 << 53 as UInt64)
    drawn = (generation, share)
    return share
  }
}

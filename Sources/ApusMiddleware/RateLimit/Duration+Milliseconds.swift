extension Duration {
  /// Whole milliseconds, for traces.
  var milliseconds: Int64 {
    let (seconds, attoseconds) = components
    // Whoever sets an absurd time wants no limit, and no trap.
    let bounded = min(max(seconds, -9_000_000_000_000_000), 9_000_000_000_000_000)
    return bounded * 1000 + attoseconds / 1_000_000_000_000_000
  }
}

extension Duration {
  /// Whole milliseconds, for traces.
  var milliseconds: Int64 {
    // Clamped, because an extreme duration must not trap.
    let limit = Duration.seconds(9_000_000_000_000_000)
    let (seconds, attoseconds) = min(max(self, .zero - limit), limit).components
    return seconds * 1000 + attoseconds / 1_000_000_000_000_000
  }
}

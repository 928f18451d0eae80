/// How the content of a call moves, in either direction: pure.
///
/// Time in which content moves is told apart from time in which it does not: the default limit of a call
/// (``CallTimeLimit``) counts the latter alone.
struct ContentMovement: Sendable {
  /// When content began to move, and how much had moved before; `nil`: none moves now.
  private(set) var run: (start: MonotonicInstant, bytes: Int64)?
  /// When a byte moved last.
  private(set) var last = MonotonicInstant(sinceStart: .zero)
  /// All bytes that have moved.
  private(set) var bytes: Int64 = 0
  /// Whether the head of the answer to the present exchange is there.
  var isAnswered = false
  /// How long content has moved in runs that are over.
  private var past = Duration.zero

  /// So many bytes have moved since the last report.
  mutating func moved(_ count: Int64, at now: MonotonicInstant) {
    if run == nil { run = (now, bytes) }
    bytes += max(0, count)
    last = max(last, now)
  }

  /// Content does not move any more: all of it is there, or its exchange is over.
  mutating func paused(at now: MonotonicInstant) {
    guard let run else { return }
    past += max(.zero, run.start.duration(to: now))
    self.run = nil
  }

  /// How long content has moved in all.
  func time(at now: MonotonicInstant) -> Duration {
    past + (run.map { max(.zero, $0.start.duration(to: now)) } ?? .zero)
  }
}

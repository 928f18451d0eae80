import ApusCore

/// When a link is free again in each direction: pure.
struct LinkTraffic: Sendable {
  private var freeUp = MonotonicInstant(sinceStart: .zero)
  private var freeDown = MonotonicInstant(sinceStart: .zero)

  /// When the last byte of a message has left that is handed over now.
  mutating func passUp(_ bytes: Int, bandwidth: Int?, at now: MonotonicInstant) -> MonotonicInstant {
    Self.pass(bytes, bandwidth, now, &freeUp)
  }

  /// The same for an answer, and when its head has.
  mutating func passDown(
    _ bytes: Int, bandwidth: Int?, at now: MonotonicInstant
  ) -> (head: MonotonicInstant, all: MonotonicInstant) {
    var freeAfterHead = freeDown
    let head = Self.pass(0, bandwidth, now, &freeAfterHead)
    return (head, Self.pass(bytes, bandwidth, now, &freeDown))
  }

  private static func pass(
    _ bytes: Int, _ bandwidth: Int?, _ now: MonotonicInstant, _ free: inout MonotonicInstant
  ) -> MonotonicInstant {
    guard let bandwidth, bandwidth > 0 else { return now }
    let nanoseconds = Int64(Double(bytes + SimulatedLink.headSize) * 1e9 / Double(bandwidth))
    free = max(free, now).advanced(by: .nanoseconds(nanoseconds))
    return free
  }
}

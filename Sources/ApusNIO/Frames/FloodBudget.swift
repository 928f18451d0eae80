/// A budget of frames without content, which a server could send at no cost (flood).
struct FloodBudget: Sendable {
  private let maximum: Int
  private var remaining: Int

  init(_ maximum: Int) {
    self.maximum = maximum
    remaining = maximum
  }

  mutating func take(_ type: FrameType) throws(FrameViolation) {
    guard remaining > 0 else { throw .flood(type) }
    remaining -= 1
  }

  /// Adds a number of frames to the budget, up to the maximum.
  mutating func refill(_ count: Int) {
    // `remaining + count` could overflow.
    remaining += min(max(0, count), maximum - remaining)
  }

  mutating func refill() {
    remaining = maximum
  }
}

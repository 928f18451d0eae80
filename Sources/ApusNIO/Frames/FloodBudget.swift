/// A budget of frames without content: work that costs a server nothing.
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

  /// Gives a number of frames back.
  mutating func refill(_ count: Int) {
    // `count` is not added first, because the sum could overflow.
    remaining += min(max(0, count), maximum - remaining)
  }

  mutating func refill() {
    remaining = maximum
  }
}

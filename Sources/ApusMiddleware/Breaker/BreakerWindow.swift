import ApusCore

/// How many exchanges there were of late, and how many of them failed: pure, in ten steps of time that roll on.
struct BreakerWindow: Hashable {
  private struct Bucket: Hashable {
    var total = 0
    var failed = 0
  }

  private static let count = 10

  private let width: Duration
  private var buckets = [Bucket](repeating: Bucket(), count: Self.count)
  /// The number of the newest step, counted from the clock's start.
  private var newest: Int64 = 0
  /// When that step is over.
  private var end: MonotonicInstant

  init(_ window: Duration) {
    width = max(window / Self.count, .milliseconds(1))
    end = MonotonicInstant(sinceStart: width)
  }

  /// How many exchanges are counted, and how many of them failed.
  func counts(at now: MonotonicInstant) -> (total: Int, failed: Int) {
    var copy = self
    copy.roll(to: now)
    return copy.buckets.reduce((0, 0)) { ($0.0 + $1.total, $0.1 + $1.failed) }
  }

  mutating func add(isFailure: Bool, at now: MonotonicInstant) {
    roll(to: now)
    let index = Int(newest % Int64(Self.count))
    buckets[index].total += 1
    if isFailure { buckets[index].failed += 1 }
  }

  mutating func clear() {
    buckets = [Bucket](repeating: Bucket(), count: Self.count)
  }

  /// Forgets what is too old by now.
  private mutating func roll(to now: MonotonicInstant) {
    // To divide takes longer than all the rest.
    guard now >= end else { return }
    // A clock that shows absurd instants must not trap.
    let step = Int64(min(max(now.sinceStart / width, 0), 1e15))
    guard step > newest else { return }
    if step - newest >= Int64(Self.count) {
      clear()
    } else {
      for passed in (newest + 1)...step { buckets[Int(passed % Int64(Self.count))] = Bucket() }
    }
    newest = step
    end = MonotonicInstant(sinceStart: width * (step + 1))
  }
}

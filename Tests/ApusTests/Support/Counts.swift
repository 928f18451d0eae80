import Synchronization

/// Thread-safe counters by key.
final class Counts: Sendable {
  private let counts = Mutex<[UInt64: Int]>([:])

  var all: [UInt64: Int] { counts.withLock { $0 } }

  func add(_ key: UInt64) {
    counts.withLock { $0[key, default: 0] += 1 }
  }

  func count(of key: UInt64) -> Int {
    counts.withLock { $0[key, default: 0] }
  }
}

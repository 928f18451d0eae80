import Synchronization

/// Counts by key, from any thread.
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

/// A list that grows from any thread.
final class Told<Element: Sendable>: Sendable {
  private let elements = Mutex<[Element]>([])

  var all: [Element] { elements.withLock { $0 } }

  @Sendable func add(_ element: Element) {
    elements.withLock { $0.append(element) }
  }
}

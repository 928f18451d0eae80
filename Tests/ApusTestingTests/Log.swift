import Synchronization

/// What happened, in order.
final class Log<Element: Sendable>: Sendable {
  private let all = Mutex<[Element]>([])

  var entries: [Element] { all.withLock { $0 } }

  func add(_ element: Element) {
    all.withLock { $0.append(element) }
  }
}

import Synchronization

/// The values that were recorded, in order, from any thread.
final class Told<Element: Sendable>: Sendable {
  private let elements = Mutex<[Element]>([])

  var all: [Element] { elements.withLock { $0 } }

  @Sendable func add(_ element: Element) {
    elements.withLock { $0.append(element) }
  }
}

import ApusTesting
import Synchronization

/// A thread-safe list of events, in order.
public final class Log<Element: Sendable>: Sendable {
  private let elements = Mutex<[Element]>([])
  private let hasElement = Gate()

  /// Creates an empty list.
  public init() {}

  /// All elements so far.
  public var all: [Element] { elements.withLock { $0 } }

  /// Appends an element.
  @Sendable public func add(_ element: Element) {
    elements.withLock { $0.append(element) }
    hasElement.open()
  }

  /// Waits for the first element.
  public func first() async throws {
    try await hasElement.wait()
  }
}

/// A thread-safe counter.
public final class Counter: Sendable {
  private let count = Mutex(0)

  /// Creates a counter at zero.
  public init() {}

  /// The count so far.
  public var value: Int { count.withLock { $0 } }

  /// Adds to the count.
  public func add(_ amount: Int = 1) {
    count.withLock { $0 += amount }
  }
}

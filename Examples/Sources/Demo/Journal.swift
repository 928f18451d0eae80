import Synchronization

/// Keeps what it is told, in order, from any thread.
final class Journal: Sendable {
  private let entries = Mutex<[String]>([])

  /// All of it, parted by commas.
  var text: String { entries.withLock { $0.joined(separator: ", ") } }

  func add(_ entry: String) {
    entries.withLock { $0.append(entry) }
  }
}

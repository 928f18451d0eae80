import Logging
import Synchronization

/// A thread-safe list of strings, in order.
final class Journal: Sendable {
  private let list = Mutex<[String]>([])

  /// The strings so far.
  var entries: [String] { list.withLock { $0 } }

  func add(_ entry: String) {
    list.withLock { $0.append(entry) }
  }
}

/// A thread-safe counter.
final class Tally: Sendable {
  private let number = Mutex(0)

  var count: Int { number.withLock { $0 } }

  func add() {
    number.withLock { $0 += 1 }
  }
}

/// A log handler that passes each line to a closure: level, message, and metadata sorted by key.
struct LineLog: LogHandler {
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.debug
  let write: @Sendable (String) -> Void

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let facts = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { "\($0)=\($1)" }
    write("\(event.level) \(event.message): \(facts.joined(separator: " "))")
  }
}

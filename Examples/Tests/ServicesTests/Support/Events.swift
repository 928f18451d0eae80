import Apus
import Synchronization

/// What an app was told of sessions that are over.
final class Events: Sendable {
  private let events = Mutex<[SessionEnd]>([])

  var all: [SessionEnd] { events.withLock { $0 } }

  func add(_ event: SessionEnd) {
    events.withLock { $0.append(event) }
  }
}

import Apus
import Synchronization

/// The ends of sessions that were reported to the app.
final class Events: Sendable {
  private let events = Mutex<[SessionEnd]>([])

  var all: [SessionEnd] { events.withLock { $0 } }

  func add(_ event: SessionEnd) {
    events.withLock { $0.append(event) }
  }
}

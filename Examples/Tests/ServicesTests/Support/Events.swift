import Apus
import Synchronization

/// The session ends that the app was told of.
final class Events: Sendable {
  private let events = Mutex<[SessionEnd]>([])

  var all: [SessionEnd] { events.withLock { $0 } }

  func add(_ event: SessionEnd) {
    events.withLock { $0.append(event) }
  }
}

import Apus
import Synchronization

/// What an app was told of sessions that are over.
final class Events: Sendable {
  private let events = Mutex<[UnauthorizedEvent]>([])

  var all: [UnauthorizedEvent] { events.withLock { $0 } }

  func add(_ event: UnauthorizedEvent) {
    events.withLock { $0.append(event) }
  }
}

import Synchronization

/// Tells observers the events of one call one at a time and in order, outside of every lock.
///
/// Events may happen on several threads. Whoever finds nobody delivering delivers everything that waits;
/// the others only add to it. So an observer may do anything, also cancel the call it is told about.
final class EventReporter: Sendable {
  private struct State {
    var waiting: [TraceEvent] = []
    var isDelivering = false

    mutating func startDelivering() -> Bool {
      guard !isDelivering, !waiting.isEmpty else { return false }
      isDelivering = true
      return true
    }

    mutating func takeWaiting() -> [TraceEvent]? {
      guard !waiting.isEmpty else {
        isDelivering = false
        return nil
      }
      defer { waiting = [] }
      return waiting
    }
  }

  private let observers: [any CallObserver]
  private let state = Mutex(State())

  init(_ observers: [any CallObserver]) {
    self.observers = observers
  }

  func enqueue(_ event: TraceEvent) {
    state.withLock { $0.waiting.append(event) }
  }

  func deliver(of call: Call) {
    guard state.withLock({ $0.startDelivering() }) else { return }
    while let events = state.withLock({ $0.takeWaiting() }) {
      for event in events {
        for observer in observers { observer.observe(event, of: call.entry) }
      }
    }
  }
}

public import HTTPTypes
import Synchronization

/// A call as the registry, observers and contexts show it. Its properties tell the present state.
public struct CallEntry: Sendable, Identifiable {
  let call: Call

  /// The call's id.
  public var id: CallID { call.id }
  /// The serial number of the call, unique within its client.
  public var serial: UInt64 { call.serial }
  /// The endpoint.
  public var endpoint: EndpointIdentity { call.endpoint }
  /// The URL without its query, with `{}` or `{name}` in place of each path value: safe for logs and metrics.
  public var urlTemplate: String {
    let baseURL = call.environment.baseURL
    let template = endpoint.template
    guard baseURL.origin != nil else { return template }
    return baseURL.description + (template.isEmpty || template.hasPrefix("/") ? "" : "/") + template
  }
  /// The tags.
  public var tags: [Tag] { call.options.tags }
  /// The name of the environment that the call was made in.
  public var environment: String { call.environment.name }
  /// The time limit that the endpoint or the call sets for the whole call; `nil`: none. A hundred years or more: no limit at all.
  public var timeout: Duration? { call.options.timeout }
  /// When the call began, on the client's clock.
  public var startInstant: MonotonicInstant { call.startInstant }
  /// The stage of the call: in `preparing` and `waiting` no exchange is running. A cancellation does not change it. Of calls
  /// that share an exchange, only the call that started it follows the exchange.
  public var phase: CallPhase { call.snapshot(\.phase) }
  /// Whether the call has ended.
  public var isEnded: Bool { call.snapshot(\.isEnded) }
  /// The head of the request, once prepared. It may hold secrets: do not log it.
  public var request: HTTPRequest? { call.snapshot(\.message)?.head }
  /// The head of the response, once it has arrived.
  public var head: HTTPResponse? { call.snapshot(\.head) }
  /// The bytes of content that this attempt has sent, and the total if it is known.
  public var sent: (bytes: Int64, expected: Int64?) { call.snapshot { ($0.sentBytes, $0.expectedSendBytes) } }
  /// The bytes of content that this attempt has received, and the total if the server announced it.
  public var received: (bytes: Int64, expected: Int64?) {
    call.snapshot { ($0.receivedBytes, $0.expectedReceiveBytes) }
  }
  /// The trace so far.
  public var trace: Trace { call.trace }

  /// Cancels the call; does nothing once it has ended.
  public func cancel() {
    call.cancel(.requested)
  }
}

/// Receives every event of every call of a client, in the order of each call's trace.
///
/// Observers are called where the event happens, one event of a call at a time: return quickly, and hand longer work to a
/// task of your own. An observer may cancel calls.
public protocol CallObserver: Sendable {
  /// Receives one event of one call.
  func observe(_ event: TraceEvent, of call: CallEntry)
}

/// Delivers the events of one call to the observers, one at a time, in order and outside of every lock.
///
/// Events happen on several threads. The thread that finds no delivery running delivers all pending events; the others only
/// add theirs. So an observer may do anything, also cancel the call it is called for.
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

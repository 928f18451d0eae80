public import HTTPTypes
import Synchronization

/// A view of a call for the registry, observers and middlewares. Its properties return the current state.
public struct CallEntry: Sendable, Identifiable {
  let call: Call

  /// The call's id.
  public var id: CallID { call.id }
  /// The serial number of the call, unique within its client.
  public var serial: UInt64 { call.serial }
  /// The endpoint.
  public var endpoint: EndpointIdentity { call.endpoint }
  /// The URL without its query, with `{}` or `{name}` in place of each path value, and with `{url}` in place of the
  /// path of a complete URL (``RequestPath/url(_:relativeTo:)-(String,_)``): safe for logs and metrics.
  public var urlTemplate: String {
    let baseURL = call.environment.baseURL
    let template = endpoint.template
    if call.sendsToURL { return template }
    guard baseURL.origin != nil else { return template }
    return baseURL.description + (template.isEmpty || template.hasPrefix("/") ? "" : "/") + template
  }
  /// The tags.
  public var tags: [Tag] { call.options.tags }
  /// The name of the environment that the call was made in.
  public var environment: String { call.environment.name }
  /// The time limit that the endpoint or the call sets for the whole call, or `nil` if the client's default applies.
  /// A hundred years or more means no limit.
  package var timeout: Duration? { call.options.timeout }
  /// The instant at which the call began, on the client's clock.
  public var startInstant: MonotonicInstant { call.startInstant }
  /// The phase of the call. In `preparing` and `waiting` no exchange is running. A cancellation does not change the
  /// phase. If calls share an exchange, only the phase of the call that started it follows the exchange.
  public var phase: CallPhase { call.snapshot(\.phase) }
  /// Whether the call has ended.
  package var isEnded: Bool { call.snapshot(\.isEnded) }
  /// The head of the request, once prepared. Do not log it: it may contain secrets.
  public var request: HTTPRequest? { call.snapshot(\.message)?.head }
  /// The head of the response, once it has arrived.
  public var head: HTTPResponse? { call.snapshot(\.head) }
  /// The number of content (body) bytes sent in the current attempt, and the total if it is known.
  public var sent: (bytes: Int64, expected: Int64?) { call.snapshot { ($0.sentBytes, $0.expectedSendBytes) } }
  /// The number of content bytes received in the current attempt, and the total if the server announced it.
  public var received: (bytes: Int64, expected: Int64?) {
    call.snapshot { ($0.receivedBytes, $0.expectedReceiveBytes) }
  }
  /// The trace so far.
  public var trace: Trace { call.trace }

  /// Cancels the call. Does nothing after the call has ended.
  public func cancel() {
    call.cancel(.requested)
  }
}

/// An observer that receives every event of every call of a client, in the order of each call's trace.
///
/// Observers are called on the thread of the event, with one event of a call at a time. Return quickly, and start a
/// task for longer work. An observer may cancel calls.
public protocol CallObserver: Sendable {
  /// Receives one event of one call.
  func observe(_ event: TraceEvent, of call: CallEntry)
}

/// A reporter that delivers the events of one call to the observers in order, never two at the same time, and outside
/// of every lock.
///
/// Events happen on several threads. If no delivery is running, the thread of an event delivers all pending events. If
/// a delivery is running, the thread only adds its event. An observer may therefore do anything, including cancel the
/// observed call.
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

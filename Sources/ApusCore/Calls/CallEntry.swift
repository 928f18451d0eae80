public import HTTPTypes
import Synchronization

/// A call as the registry and observers show it: reads what is true at the moment it is asked.
public struct CallEntry: Sendable, Identifiable {
  let call: Call

  /// The call's id.
  public var id: CallID { call.id }
  /// A number that no other call of this client has.
  public var serial: UInt64 { call.serial }
  /// The endpoint.
  public var endpoint: EndpointIdentity { call.endpoint }
  /// The URL without its query, each value in the path replaced by `{}` or `{name}`: safe for logs and metrics.
  public var urlTemplate: String {
    let baseURL = call.environment.baseURL
    let template = endpoint.template
    guard baseURL.origin != nil else { return template }
    return baseURL.description + (template.isEmpty || template.hasPrefix("/") ? "" : "/") + template
  }
  /// The tags.
  public var tags: [Tag] { call.options.tags }
  /// The name of the environment it was made in.
  public var environment: String { call.environment.name }
  /// The time limit that the endpoint or the call sets for the whole call; `nil`: none. A hundred years or more: no limit at all.
  public var timeout: Duration? { call.options.timeout }
  /// When it began, on the client's clock.
  public var startInstant: MonotonicInstant { call.startInstant }
  /// Where it is.
  public var phase: CallPhase { call.snapshot(\.phase) }
  /// Whether it has ended.
  public var isEnded: Bool { call.snapshot(\.isEnded) }
  /// The head of its request, once prepared. It may hold secrets: for sending, not for logs.
  public var request: HTTPRequest? { call.snapshot(\.message)?.head }
  /// The head of its answer, once arrived.
  public var head: HTTPResponse? { call.snapshot(\.head) }
  /// Bytes of content sent by the present attempt, and how many there are, when known.
  public var sent: (bytes: Int64, expected: Int64?) { call.snapshot { ($0.sentBytes, $0.expectedSendBytes) } }
  /// Bytes of content received by the present attempt, and how many were announced, if they were.
  public var received: (bytes: Int64, expected: Int64?) {
    call.snapshot { ($0.receivedBytes, $0.expectedReceiveBytes) }
  }
  /// What has happened so far.
  public var trace: Trace { call.trace }

  /// Cancels the call; does nothing once it has ended.
  public func cancel() {
    call.cancel(.requested)
  }
}

/// Is told every event of every call of a client, in the order in which they happened to each call.
///
/// Observers are called where the event happens, one event of a call at a time: be quick, and hand longer
/// work to a task of your own. An observer may cancel calls.
public protocol CallObserver: Sendable {
  /// One event of one call.
  func observe(_ event: TraceEvent, of call: CallEntry)
}

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

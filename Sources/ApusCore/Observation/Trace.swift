/// The timeline of a call: all events of the call, in order.
///
/// Every ``Response`` and every ``CallError`` has the trace of its call. The events are typed; ``description`` prints
/// them as text.
public struct Trace: Sendable, CustomStringConvertible {
  /// The call's id.
  public let id: CallID
  /// The endpoint.
  public let endpoint: EndpointIdentity
  /// The events, in order.
  public let events: [TraceEvent]

  /// Creates a trace.
  package init(id: CallID, endpoint: EndpointIdentity, events: [TraceEvent] = []) {
    (self.id, self.endpoint, self.events) = (id, endpoint, events)
  }

  /// The time from the first event to the last event.
  public var duration: Duration {
    guard let first = events.first, let last = events.last else { return .zero }
    return first.instant.duration(to: last.instant)
  }

  /// The timeline as text: one line for each event, with the milliseconds since the first event.
  public var description: String {
    var lines = ["call \(id) \(endpoint)"]
    for event in events {
      let time = events.first?.instant.duration(to: event.instant) ?? .zero
      let attempt = event.attempt > 1 ? "[attempt \(event.attempt)] " : ""
      let stamp = Self.milliseconds(time)
      let margin = String(repeating: " ", count: max(0, 10 - stamp.count))
      lines.append("\(margin)\(stamp) ms  \(attempt)\(event.kind)")
    }
    return lines.joined(separator: "\n")
  }

  static func milliseconds(_ duration: Duration) -> String {
    // Durations that stand for "no limit" must not trap.
    let limit = Duration.seconds(Int64.max / 1_000_000 - 1)
    let (seconds, attoseconds) = min(max(duration, .zero - limit), limit).components
    let microseconds = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    let fraction = String(microseconds % 1000)
    return "\(microseconds / 1000)." + String(repeating: "0", count: max(0, 3 - fraction.count)) + fraction
  }
}

/// The duration of each phase of an exchange. A phase that is unknown or did not happen is `nil`.
public struct ExchangeTimings: Sendable, Hashable {
  /// The number of the attempt, from 1.
  public let attempt: Int
  /// The instant at which the message was passed to the transport.
  public let start: MonotonicInstant
  /// The time spent waiting for a connection from the pool.
  public private(set) var queued: Duration?
  /// The time to look up the addresses of the host.
  public private(set) var nameLookup: Duration?
  /// The time to connect, through a proxy if there is one.
  public private(set) var connecting: Duration?
  /// The time of the TLS handshake.
  public private(set) var tlsHandshake: Duration?
  /// The time to send the request, once there is a connection.
  public private(set) var sending: Duration?
  /// The time from the end of the request to the first byte of the response, or to its head if the transport does not
  /// report the first byte. Zero if the response began before the request was sent completely.
  public private(set) var waiting: Duration?
  /// The time from the start of the response to the end of its content (body).
  public private(set) var receiving: Duration?

  private var connected: MonotonicInstant?
  private var sent: MonotonicInstant?
  private var answered: MonotonicInstant?

  fileprivate init(_ event: TraceEvent) {
    attempt = event.attempt
    start = event.instant
  }

  fileprivate mutating func take(_ event: TraceEvent) {
    switch event.kind {
    case .phase(let phase, let time): take(phase, time)
    case .connected:
      connected = event.instant
      // A further connection means that the transport resends the request.
      (sent, sending) = (nil, nil)
    case .requestSent:
      sent = event.instant
      sending = connected.map { $0.duration(to: event.instant) }
    case .firstByteArrived, .headArrived:
      guard answered == nil else { return }
      answered = event.instant
      waiting = sent.map { $0.duration(to: event.instant) } ?? (connected == nil ? nil : .zero)
    case .contentArrived: receiving = answered.map { $0.duration(to: event.instant) }
    default: break
    }
  }

  private mutating func take(_ phase: ConnectionPhase, _ time: Duration) {
    switch phase {
    case .queued: queued = time
    case .nameLookup: nameLookup = time
    case .connecting: connecting = time
    case .tlsHandshake: tlsHandshake = time
    }
  }
}

extension Trace {
  /// The timings of each exchange, in the order in which the exchanges began.
  public var exchanges: [ExchangeTimings] {
    var exchanges: [ExchangeTimings] = []
    for event in events {
      if event.kind == .exchangeStarted {
        exchanges.append(ExchangeTimings(event))
      } else if let index = exchanges.lastIndex(where: { $0.attempt == event.attempt }) {
        exchanges[index].take(event)
      }
    }
    return exchanges
  }
}

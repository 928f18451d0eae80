/// Everything that happened to a call, in order.
///
/// Attached to every result and every error. Its events are typed; its text is a rendering.
public struct Trace: Sendable, CustomStringConvertible {
  /// The call's id.
  public let id: CallID
  /// The endpoint.
  public let endpoint: EndpointIdentity
  /// The events, in order.
  public let events: [TraceEvent]

  /// Makes a trace, for fakes and previews.
  public init(id: CallID, endpoint: EndpointIdentity, events: [TraceEvent] = []) {
    (self.id, self.endpoint, self.events) = (id, endpoint, events)
  }

  /// Time from the first event to the last.
  public var duration: Duration {
    guard let first = events.first, let last = events.last else { return .zero }
    return first.instant.duration(to: last.instant)
  }

  /// Time from the start to the first event that `matches`; `nil` when there is none.
  public func time(to matches: (TraceEvent.Kind) -> Bool) -> Duration? {
    guard let first = events.first, let event = events.first(where: { matches($0.kind) }) else { return nil }
    return first.instant.duration(to: event.instant)
  }

  /// The timeline as text: a line an event, with milliseconds since the start.
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
    // Times that mean for ever must not trap.
    let limit = Duration.seconds(Int64.max / 1_000_000 - 1)
    let (seconds, attoseconds) = min(max(duration, .zero - limit), limit).components
    let microseconds = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    let fraction = String(microseconds % 1000)
    return "\(microseconds / 1000)." + String(repeating: "0", count: max(0, 3 - fraction.count)) + fraction
  }
}

/// How long the parts of one exchange took; `nil` where that is not known, or there was no such part.
public struct ExchangeTimings: Sendable, Hashable {
  /// The attempt it belongs to, from 1.
  public let attempt: Int
  /// When the message was handed to the transport.
  public let start: MonotonicInstant
  /// Waiting for a connection.
  public private(set) var queued: Duration?
  /// Finding the addresses of the host's name.
  public private(set) var nameLookup: Duration?
  /// Connecting.
  public private(set) var connecting: Duration?
  /// The TLS handshake.
  public private(set) var securing: Duration?
  /// Sending: from the moment there was a connection until the request had left.
  public private(set) var sending: Duration?
  /// Waiting: from the moment the request had left until the first byte of the answer, or its head where nothing is
  /// known of the first byte. Zero when the answer began before.
  public private(set) var waiting: Duration?
  /// Receiving: from then on to the end of the content.
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
      // The request goes out anew when the connection is another one.
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
    case .securing: securing = time
    }
  }
}

extension Trace {
  /// How long the parts of each exchange took, in the order in which they began.
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

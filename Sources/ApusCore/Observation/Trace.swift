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

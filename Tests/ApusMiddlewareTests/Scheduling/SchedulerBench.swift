import ApusCore

@testable import ApusMiddleware

/// A scheduler state with named attempts and their outcomes.
struct SchedulerBench {
  private(set) var state: SchedulerState
  /// The current instant, in seconds.
  var seconds = 0
  /// The attempts that were admitted, in order.
  private(set) var started: [String] = []
  private(set) var late: [String] = []
  private(set) var refusals: [String: SchedulingRefusal] = [:]
  private(set) var causes: [String: QueueReason] = [:]
  private var tickets: [String: SchedulerState.Ticket] = [:]

  init(_ limits: ConcurrencyLimits) {
    state = SchedulerState(limits)
  }

  private var now: MonotonicInstant { MonotonicInstant(sinceStart: .seconds(seconds)) }

  static func newcomer(at host: String = "a") -> SchedulerState.Attempt {
    SchedulerState.Attempt(origin: OriginKey(Origin(scheme: "https", host: host, port: 443)))
  }

  mutating func enter(
    _ name: String, at host: String = "a", _ change: (inout SchedulerState.Attempt) -> Void = { _ in }
  ) {
    var newcomer = Self.newcomer(at: host)
    change(&newcomer)
    take(state.enter(newcomer, now: now), name)
    settle()
  }

  mutating func enter(_ name: String, at host: String = "a", _ priority: CallPriority) {
    enter(name, at: host) { $0.priority = priority }
  }

  mutating func leave(_ names: String...) {
    for name in names {
      if let ticket = tickets[name] { state.leave(ticket, now: now) }
      settle()
    }
  }

  mutating func giveUp(_ name: String) -> Bool {
    guard let ticket = tickets[name] else { return false }
    let waited = state.cancelWaiting(ticket)
    settle()
    return waited
  }

  /// Starts a stream. Returns whether the stream counts toward the limit of a tag.
  mutating func stream(_ name: String) -> Bool {
    guard let ticket = tickets[name] else { return false }
    let isCounted = state.startStreaming(ticket, now: now)
    settle()
    return isCounted
  }

  mutating func pause(_ name: String) {
    if let ticket = tickets[name] { state.pause(ticket) }
    settle()
  }

  mutating func resume(_ name: String) {
    if let ticket = tickets[name] { take(state.resume(ticket, now: now), name) }
    settle()
  }

  /// Adapts the limit of an attempt's origin.
  mutating func adapt(_ name: String, streams: UInt32?) {
    if let ticket = tickets[name] { state.setLimit(of: ticket, streams: streams) }
    settle()
  }

  mutating func change(_ change: (inout SchedulerState) -> Void) {
    change(&state)
    settle()
  }

  private mutating func take(_ admission: SchedulerState.Admission, _ name: String) {
    switch admission {
    case .runs(let ticket):
      tickets[name] = ticket
      started.append(name)
    case .waits(let ticket, let cause):
      tickets[name] = ticket
      causes[name] = cause
    case .refused(let refusal): refusals[name] = refusal
    }
  }

  private mutating func settle() {
    while let decision = state.next(now: now) {
      let name = tickets.first { $0.value == decision.ticket }?.key ?? "nobody"
      switch decision.verdict {
      case .runs: started.append(name)
      case .late: late.append(name)
      }
    }
  }
}

extension ConcurrencyLimits {
  /// Returns a changed copy of the limits.
  func with(_ change: (inout ConcurrencyLimits) -> Void) -> ConcurrencyLimits {
    var limits = self
    change(&limits)
    return limits
  }
}

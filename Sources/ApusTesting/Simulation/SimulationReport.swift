/// What happened in a simulation, in order, and figures made of it.
///
/// Two runs with the same seed give equal reports.
public struct SimulationReport: Sendable, Hashable {
  /// The seed of the run.
  public let seed: UInt64
  /// How much time passed in it.
  public let duration: Duration
  /// What happened, in order.
  public let events: [SimulationEvent]

  /// Makes a report.
  public init(seed: UInt64, duration: Duration, events: [SimulationEvent]) {
    self.seed = seed
    self.duration = duration
    self.events = events
  }

  /// Everything that happened, a line each: for comparing two runs by eye.
  public var log: String {
    events.map { "\($0)\n" }.joined()
  }

  /// How many events a rule picks.
  public func count(where matches: (SimulationEvent.Kind) -> Bool) -> Int {
    events.reduce(0) { matches($1.kind) ? $0 + 1 : $0 }
  }

  /// How many calls ended with a value.
  public var successes: Int {
    count { kind in
      if case .callEnded(_, _, _, .none) = kind { return true }
      return false
    }
  }

  /// How many calls ended with an error.
  public var failures: Int {
    count { kind in
      if case .callEnded(_, _, _, .some) = kind { return true }
      return false
    }
  }

  /// How long the calls took that ended with a value in a time, shortest first.
  ///
  /// - Parameter range: when they ended, since the simulation began. Default: at any time.
  public func latencies(in range: Range<Duration>? = nil) -> [Duration] {
    events.compactMap { event -> Duration? in
      guard case .callEnded(_, _, let began, .none) = event.kind else { return nil }
      guard range?.contains(event.time) ?? true else { return nil }
      return event.time - began
    }.sorted()
  }

  /// The time within which a share of the calls had their value: 0.5 is the median; `nil` when there were none.
  public func latency(atShare share: Double, in range: Range<Duration>? = nil) -> Duration? {
    let all = latencies(in: range)
    guard !all.isEmpty else { return nil }
    return all[max(0, min(all.count - 1, Int((Double(all.count) * share).rounded(.up)) - 1))]
  }
}

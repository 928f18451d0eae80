/// The events of a simulation, and statistics derived from them.
///
/// Two runs with the same seed have equal reports.
public struct SimulationReport: Sendable, Hashable {
  /// The seed of the run.
  public let seed: UInt64
  /// The simulated time.
  public let duration: Duration
  /// The events, in order.
  public let events: [SimulationEvent]

  /// Creates a report, for example with some of the events of another.
  public init(seed: UInt64, duration: Duration, events: [SimulationEvent]) {
    self.seed = seed
    self.duration = duration
    self.events = events
  }

  /// All events, one per line, for comparing runs.
  public var log: String {
    events.map { "\($0)\n" }.joined()
  }

  /// Returns the number of events that `matches`.
  public func count(where matches: (SimulationEvent.Kind) -> Bool) -> Int {
    events.reduce(0) { matches($1.kind) ? $0 + 1 : $0 }
  }

  /// The number of calls that returned a value.
  public var successes: Int {
    count { kind in
      if case .callEnded(_, _, _, .none) = kind { return true }
      return false
    }
  }

  /// The number of calls that failed.
  public var failures: Int {
    count { kind in
      if case .callEnded(_, _, _, .some) = kind { return true }
      return false
    }
  }

  /// Returns the latencies of the successful calls, shortest first.
  ///
  /// - Parameter range: the time in which the calls ended, since the start of the simulation. Default: any time.
  public func latencies(in range: Range<Duration>? = nil) -> [Duration] {
    events.compactMap { event -> Duration? in
      guard case .callEnded(_, _, let began, .none) = event.kind else { return nil }
      guard range?.contains(event.time) ?? true else { return nil }
      return event.time - began
    }.sorted()
  }

  /// Returns a quantile of the latencies of the successful calls, or `nil` if there are none: 0.5 for the median.
  public func latency(quantile share: Double, in range: Range<Duration>? = nil) -> Duration? {
    let all = latencies(in: range)
    guard !all.isEmpty else { return nil }
    return all[max(0, min(all.count - 1, Int((Double(all.count) * share).rounded(.up)) - 1))]
  }
}

// Time series. Rates are per second, whatever the step.
extension SimulationReport {
  /// Returns the goodput: successful calls per second.
  public func goodput(every step: Duration = .seconds(1)) -> SimulationSeries {
    rate(every: step) { event in
      if case .callEnded(_, _, _, .none) = event { return true }
      return false
    }
  }

  /// Returns the failed calls per second.
  public func failures(every step: Duration = .seconds(1)) -> SimulationSeries {
    rate(every: step) { event in
      if case .callEnded(_, _, _, .some) = event { return true }
      return false
    }
  }

  /// Returns the load on a server: arriving requests per second.
  public func load(on server: SimulatedServer, every step: Duration = .seconds(1)) -> SimulationSeries {
    load(on: server.host, every: step)
  }

  /// Returns the load on the server of a host: arriving requests per second.
  public func load(on host: String, every step: Duration = .seconds(1)) -> SimulationSeries {
    rate(every: step) { event in
      if case .arrived(let other, _) = event { return other == host }
      return false
    }
  }

  /// Returns the maximum queue length at the server of a host, sampled at each arrival.
  public func queueLength(on host: String, every step: Duration = .seconds(1)) -> SimulationSeries {
    series(every: step) { event in
      if case .arrived(let other, let waiting) = event, other == host { return Double(waiting) }
      return nil
    } combining: { values in
      values.max() ?? 0
    }
  }

  /// Returns the number of events per second that `matches`.
  public func rate(
    every step: Duration = .seconds(1), where matches: (SimulationEvent.Kind) -> Bool
  ) -> SimulationSeries {
    let step = step > .zero ? step : .seconds(1)
    let seconds = step / Duration.seconds(1)
    return series(every: step) {
      matches($0) ? 1 : nil
    } combining: {
      $0.reduce(0, +) / seconds
    }
  }

  /// Returns a time series of values derived from events.
  ///
  /// - Parameters:
  ///   - step: the length of a step; a second if not positive.
  ///   - value: returns the value of an event, or `nil` to skip it.
  ///   - combine: returns the value of a step from the values of its events, of which there may be none.
  public func series(
    every step: Duration, of value: (SimulationEvent.Kind) -> Double?, combining combine: ([Double]) -> Double
  ) -> SimulationSeries {
    let step = step > .zero ? step : .seconds(1)
    let count = max(1, Int((duration / step).rounded(.up)))
    var all = Array(repeating: [Double](), count: count)
    for event in events {
      guard let value = value(event.kind) else { continue }
      all[max(0, min(count - 1, Int(event.time / step)))].append(value)
    }
    return SimulationSeries(step: step, values: all.map(combine))
  }
}

/// A time series: one value per step since the start of the simulation.
public struct SimulationSeries: Sendable, Hashable {
  /// The length of a step.
  public let step: Duration
  /// The values; the first step starts at zero.
  public let values: [Double]

  package init(step: Duration, values: [Double]) {
    self.step = step
    self.values = values
  }

  /// Returns the mean of the steps that start in a range, or zero if there are none.
  public func mean(in range: Range<Duration>) -> Double {
    let chosen = values.enumerated().filter { range.contains(step * $0.offset) }.map { $0.element }
    return chosen.isEmpty ? 0 : chosen.reduce(0, +) / Double(chosen.count)
  }

  /// The largest value, or zero if the series is empty.
  public var maximum: Double { values.max() ?? 0 }

  /// Returns the time at which the series first reaches a value and keeps it for a number of steps, such as the time
  /// at which a system has recovered.
  ///
  /// - Parameters:
  ///   - value: the minimum value.
  ///   - start: steps that start earlier do not count.
  ///   - count: the number of consecutive steps. Default: 5.
  /// - Returns: The start of the first of these steps, or `nil` if there are none.
  public func recoveryTime(to value: Double, from start: Duration, steps count: Int = 5) -> Duration? {
    var length = 0
    for (index, present) in values.enumerated() where step * index >= start {
      length = present >= value ? length + 1 : 0
      if length == count { return step * (index - count + 1) }
    }
    return nil
  }

  /// Returns the series as CSV: the time in seconds and the value.
  public func csv(_ name: String = "value") -> String {
    Self.csv([name: self])
  }

  /// Returns several series with the same step as CSV, one column each. Cells after the end of a series are empty.
  public static func csv(_ columns: KeyValuePairs<String, SimulationSeries>) -> String {
    var lines = [(["seconds"] + columns.map { $0.key }).joined(separator: ",")]
    let step = columns.first?.value.step ?? .seconds(1)
    for index in 0..<(columns.map { $0.value.values.count }.max() ?? 0) {
      let time = (step * index) / Duration.seconds(1)
      let cells = columns.map { column in
        index < column.value.values.count ? "\(column.value.values[index])" : ""
      }
      lines.append((["\(time)"] + cells).joined(separator: ","))
    }
    return lines.joined(separator: "\n") + "\n"
  }
}

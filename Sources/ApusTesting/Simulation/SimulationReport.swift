/// The events of a simulation, and statistics derived from them.
///
/// Two runs with the same seed have equal reports.
public struct SimulationReport: Sendable, Hashable {
  /// The seed of the run.
  package let seed: UInt64
  /// The simulated time.
  public let duration: Duration
  /// The events, in order.
  package let events: [SimulationEvent]

  package init(seed: UInt64, duration: Duration, events: [SimulationEvent]) {
    self.seed = seed
    self.duration = duration
    self.events = events
  }

  /// All events, one per line, for comparing runs.
  public var log: String {
    events.map { "\($0)\n" }.joined()
  }

  /// Returns the number of events for which `matches` returns `true`.
  package func count(where matches: (SimulationEvent.Kind) -> Bool) -> Int {
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

  /// Returns the times at which the test made a note, see ``SimulatedWorld/note(_:)``.
  public func times(of note: String) -> [Duration] {
    events.filter { $0.kind == .note(note) }.map(\.time)
  }

  /// Returns the latencies of the successful calls, shortest first.
  ///
  /// - Parameter range: the time in which the calls ended, since the start of the simulation. Default: any time.
  package func latencies(in range: Range<Duration>? = nil) -> [Duration] {
    events.compactMap { event -> Duration? in
      guard case .callEnded(_, _, let began, .none) = event.kind else { return nil }
      guard range?.contains(event.time) ?? true else { return nil }
      return event.time - began
    }.sorted()
  }

  /// Returns a quantile of the latencies of the successful calls, or `nil` without such calls. The quantile 0.5 is the
  /// median.
  public func latency(quantile share: Double, in range: Range<Duration>? = nil) -> Duration? {
    let all = latencies(in: range)
    guard !all.isEmpty else { return nil }
    return all[max(0, min(all.count - 1, Int((Double(all.count) * share).rounded(.up)) - 1))]
  }
}

// Time series. Rates are per second, regardless of the step.
extension SimulationReport {
  /// Returns the calls that started per second.
  public func calls(every step: Duration = .seconds(1)) -> SimulationSeries {
    rate(every: step) { event in
      if case .callStarted = event.kind { return true }
      return false
    }
  }

  /// Returns the goodput: successful calls per second.
  ///
  /// - Parameters:
  ///   - limit: the maximum latency of a call that contributes to the goodput. Default: `nil`, any latency.
  ///   - step: the length of a step. Default: a second.
  public func goodput(within limit: Duration? = nil, every step: Duration = .seconds(1)) -> SimulationSeries {
    rate(every: step) { event in
      guard case .callEnded(_, _, let began, .none) = event.kind else { return false }
      return limit.map { event.time - began <= $0 } ?? true
    }
  }

  /// Returns the failed calls per second.
  package func failures(every step: Duration = .seconds(1)) -> SimulationSeries {
    rate(every: step) { event in
      if case .callEnded(_, _, _, .some) = event.kind { return true }
      return false
    }
  }

  /// Returns the load on the server of a host: requests per second, including requests while the server is down.
  public func load(on host: String, every step: Duration = .seconds(1)) -> SimulationSeries {
    rate(every: step) { event in
      switch event.kind {
      case .arrived(let other, _), .down(let other): other == host
      default: false
      }
    }
  }

  /// Returns the maximum queue length at the server of a host, sampled at each arrival.
  package func queueLength(on host: String, every step: Duration = .seconds(1)) -> SimulationSeries {
    series(every: step) { event in
      if case .arrived(let other, let waiting) = event.kind, other == host { return Double(waiting) }
      return nil
    } combining: { values in
      values.max() ?? 0
    }
  }

  /// Returns the number of events per second that satisfy `matches`.
  private func rate(
    every step: Duration = .seconds(1), where matches: (SimulationEvent) -> Bool
  ) -> SimulationSeries {
    let step = step > .zero ? step : .seconds(1)
    let seconds = step / Duration.seconds(1)
    return series(every: step) {
      matches($0) ? 1 : nil
    } combining: {
      $0.reduce(0, +) / seconds
    }
  }

  /// Returns a time series derived from the events.
  ///
  /// - Parameters:
  ///   - step: the length of a step; a second if not positive.
  ///   - value: returns the value of an event, or `nil` to skip it.
  ///   - combine: returns the value of a step from the values of its events; the list may be empty.
  private func series(
    every step: Duration, of value: (SimulationEvent) -> Double?, combining combine: ([Double]) -> Double
  ) -> SimulationSeries {
    let step = step > .zero ? step : .seconds(1)
    let count = max(1, Int((duration / step).rounded(.up)))
    var all = Array(repeating: [Double](), count: count)
    for event in events {
      guard let value = value(event) else { continue }
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

  /// Returns the mean of the steps that start in a range, or zero if no step starts in the range.
  package func mean(in range: Range<Duration>) -> Double {
    let chosen = values.enumerated().filter { range.contains(step * $0.offset) }.map { $0.element }
    return chosen.isEmpty ? 0 : chosen.reduce(0, +) / Double(chosen.count)
  }

  /// The largest value, or zero if the series is empty.
  package var maximum: Double { values.max() ?? 0 }

  /// Returns the time at which the series first reaches a value and stays at or above the value for a number of steps,
  /// such as the time at which a system has recovered.
  ///
  /// - Parameters:
  ///   - value: the minimum value.
  ///   - start: the start of the search. Steps that start earlier are ignored.
  ///   - count: the number of consecutive steps. Default: 5.
  /// - Returns: the start of the first of these steps, or `nil` if there are no such steps.
  package func recoveryTime(to value: Double, from start: Duration, steps count: Int = 5) -> Duration? {
    var length = 0
    for (index, present) in values.enumerated() where step * index >= start {
      length = present >= value ? length + 1 : 0
      if length == count { return step * (index - count + 1) }
    }
    return nil
  }
}

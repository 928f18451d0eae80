/// Figures over time, for plots. Rates are per second, whatever the step.
extension SimulationReport {
  /// Useful answers per second: calls that ended with a value.
  public func answers(every step: Duration = .seconds(1)) -> SimulationSeries {
    rate(every: step) { event in
      if case .callEnded(_, _, _, .none) = event { return true }
      return false
    }
  }

  /// Calls per second that ended with an error.
  public func failures(every step: Duration = .seconds(1)) -> SimulationSeries {
    rate(every: step) { event in
      if case .callEnded(_, _, _, .some) = event { return true }
      return false
    }
  }

  /// Requests per second that arrived at a server: its load.
  public func load(on server: SimulatedServer, every step: Duration = .seconds(1)) -> SimulationSeries {
    load(on: server.host, every: step)
  }

  /// Requests per second that arrived at the server of a host: its load.
  public func load(on host: String, every step: Duration = .seconds(1)) -> SimulationSeries {
    rate(every: step) { event in
      if case .arrived(let other, _) = event { return other == host }
      return false
    }
  }

  /// The most requests that waited at the server of a host, as each new one found them.
  public func queue(on host: String, every step: Duration = .seconds(1)) -> SimulationSeries {
    series(every: step) { event in
      if case .arrived(let other, let waiting) = event, other == host { return Double(waiting) }
      return nil
    } combining: { values in
      values.max() ?? 0
    }
  }

  /// How many events per second a rule picks.
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

  /// A figure made of the values that events have, step by step.
  ///
  /// - Parameters:
  ///   - step: how long a step is; one that is not positive counts as a second.
  ///   - value: what an event contributes; `nil`: nothing.
  ///   - combine: makes one value of all those of a step, which may be none.
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

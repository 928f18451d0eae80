import ApusTesting

extension SimulationReport {
  /// Requests per second sent to a server, including requests while it was down.
  func arrivals(at server: String) -> SimulationSeries {
    rate { kind in
      switch kind {
      case .arrived(let host, _), .down(let host): host == server
      default: false
      }
    }
  }

  /// Useful responses per second: calls that succeeded within ``Fleet/patience``.
  var usefulAnswers: SimulationSeries {
    let useful = events.filter { event in
      guard case .callEnded(_, _, let began, .none) = event.kind else { return false }
      return event.time - began <= Fleet.patience
    }
    return SimulationReport(seed: seed, duration: duration, events: useful).goodput()
  }

  /// Calls started per second.
  var calls: SimulationSeries {
    rate { kind in
      if case .callStarted = kind { return true }
      return false
    }
  }

  /// Returns the times of a note, in seconds.
  func times(of note: String) -> [Double] {
    events.compactMap { event -> Double? in
      guard case .note(note) = event.kind else { return nil }
      return event.time / Duration.seconds(1)
    }
  }
}

extension SimulationSeries {
  /// Returns the values up to a time, padded with zeros.
  func padded(until end: Duration) -> [Double] {
    let count = Int((end / step).rounded())
    return Array(values.prefix(count)) + Array(repeating: 0, count: max(0, count - values.count))
  }
}

extension [Double] {
  /// Returns the number of times before each step.
  func counted(every step: Double, until end: Double) -> [Double] {
    (0..<Int((end / step).rounded())).map { number in
      Double(self.count(where: { $0 <= Double(number) * step }))
    }
  }

  /// Returns the mean of the values of some seconds.
  func mean(in seconds: Range<Int>) -> Double {
    let chosen = self[seconds.clamped(to: indices)]
    return chosen.isEmpty ? 0 : chosen.reduce(0, +) / Double(chosen.count)
  }
}

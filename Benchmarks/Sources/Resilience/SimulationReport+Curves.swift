import ApusTesting

extension SimulationReport {
  /// Requests per second that reached a server, those included that found it gone.
  func arrivals(at server: String) -> SimulationSeries {
    rate { kind in
      switch kind {
      case .arrived(let host, _), .down(let host): host == server
      default: false
      }
    }
  }

  /// Useful answers per second: calls that ended with a value within ``Fleet/patience`` of their beginning.
  var usefulAnswers: SimulationSeries {
    let useful = events.filter { event in
      guard case .callEnded(_, _, let began, .none) = event.kind else { return false }
      return event.time - began <= Fleet.patience
    }
    return SimulationReport(seed: seed, duration: duration, events: useful).answers()
  }

  /// Calls per second that began.
  var calls: SimulationSeries {
    rate { kind in
      if case .callStarted = kind { return true }
      return false
    }
  }

  /// When something was noted, in seconds.
  func times(of note: String) -> [Double] {
    events.compactMap { event -> Double? in
      guard case .note(note) = event.kind else { return nil }
      return event.time / Duration.seconds(1)
    }
  }
}

extension SimulationSeries {
  /// The values up to a time; zero where nothing happens any more.
  func padded(until end: Duration) -> [Double] {
    let count = Int((end / step).rounded())
    return Array(values.prefix(count)) + Array(repeating: 0, count: max(0, count - values.count))
  }
}

extension [Double] {
  /// Counts times: how many there had been when each step began.
  func counted(every step: Double, until end: Double) -> [Double] {
    (0..<Int((end / step).rounded())).map { number in
      Double(self.count(where: { $0 <= Double(number) * step }))
    }
  }

  /// The mean of the values of some seconds.
  func mean(in seconds: Range<Int>) -> Double {
    let chosen = self[seconds.clamped(to: indices)]
    return chosen.isEmpty ? 0 : chosen.reduce(0, +) / Double(chosen.count)
  }
}

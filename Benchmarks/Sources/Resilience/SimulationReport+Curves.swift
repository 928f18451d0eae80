import ApusTesting

extension SimulationReport {
  /// Returns the times of a note, in seconds.
  func seconds(of note: String) -> [Double] {
    times(of: note).map { $0 / Duration.seconds(1) }
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

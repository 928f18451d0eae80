/// A figure over time: one value for each step since the simulation began.
public struct SimulationSeries: Sendable, Hashable, Codable {
  /// How long a step is.
  public let step: Duration
  /// The values; the first is that of the step from zero on.
  public let values: [Double]

  /// Makes a series.
  public init(step: Duration, values: [Double]) {
    self.step = step
    self.values = values
  }

  /// The mean of the values of the steps that begin in a range; zero when there are none.
  public func mean(in range: Range<Duration>) -> Double {
    let chosen = values.enumerated().filter { range.contains(step * $0.offset) }.map { $0.element }
    return chosen.isEmpty ? 0 : chosen.reduce(0, +) / Double(chosen.count)
  }

  /// The largest value; zero when there is none.
  public var maximum: Double { values.max() ?? 0 }

  /// The first time from which on so many steps in a row have at least a value: when a system has recovered.
  ///
  /// - Parameters:
  ///   - value: the least value.
  ///   - start: steps that begin earlier do not count.
  ///   - count: how many steps in a row. Default: 5.
  /// - Returns: when the first of them begins; `nil` when there are not so many.
  public func time(ofAtLeast value: Double, from start: Duration, steps count: Int = 5) -> Duration? {
    var length = 0
    for (index, present) in values.enumerated() where step * index >= start {
      length = present >= value ? length + 1 : 0
      if length == count { return step * (index - count + 1) }
    }
    return nil
  }

  /// The series as lines of comma-separated values for a script that plots: the time in seconds, and the value.
  public func csv(_ name: String = "value") -> String {
    Self.csv([name: self])
  }

  /// Several series of one step, side by side; where one has ended its place is empty.
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

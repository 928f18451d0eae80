import ApusTesting

/// A scenario that is run for several contenders, each in its own simulation with the same seed.
protocol Scenario: Sendable {
  /// The name of the scenario's file of curves and of its rows in the summary.
  var name: String { get }

  /// Runs the scenario.
  func run(seed: UInt64) async throws -> Outcome
}

/// The result of a scenario: curves for plots, figures for tables.
struct Outcome: Sendable {
  /// A figure over time.
  struct Curve: Sendable {
    /// The quantity and the contender, for example `answers ours`.
    let name: String
    let values: [Double]
  }

  /// A figure of one contender.
  struct Figure: Sendable {
    let contender: String
    let name: String
    /// The number; `nil` when the event did not occur.
    let value: Double?
  }

  let name: String
  /// The seconds between two values of a curve.
  let step: Double
  private var all: [Curve] = []
  private var figures: [Figure] = []
  /// The number of simulated calls and the simulated time of all contenders.
  private(set) var calls = 0
  private(set) var simulated = Duration.zero

  init(_ name: String, step: Double = 1) {
    self.name = name
    self.step = step
  }

  /// Adds the number of calls and the simulated time of a contender's run.
  mutating func add(_ report: SimulationReport) {
    calls += report.successes + report.failures
    simulated += report.duration
  }

  /// Adds a curve.
  mutating func draw(_ name: String, _ values: [Double]) {
    all.append(Curve(name: name, values: values))
  }

  /// Adds a figure, rounded to a tenth.
  mutating func note(_ contender: String, _ name: String, _ value: Double?) {
    figures.append(Figure(contender: contender, name: name, value: value.map { ($0 * 10).rounded() / 10 }))
  }

  // MARK: Texts

  /// The curves as comma-separated values: the time in seconds, then a column for each curve.
  var curves: String {
    var lines = [(["seconds"] + all.map(\.name)).joined(separator: ",")]
    for index in 0..<(all.map(\.values.count).max() ?? 0) {
      let cells = all.map { index < $0.values.count ? Self.text($0.values[index]) : "" }
      lines.append(([Self.text(Double(index) * step)] + cells).joined(separator: ","))
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// The figures as lines of the summary.
  var rows: [String] {
    figures.map { "\(name),\($0.contender),\($0.name),\($0.value.map(Self.text) ?? "")" }
  }

  /// The figures as a table: a line for each figure, a column for each contender.
  var table: String {
    let contenders = Self.unique(figures.map(\.contender))
    var lines = [Self.line(name, contenders)]
    for figure in Self.unique(figures.map(\.name)) {
      let cells = contenders.map { contender in
        let found = figures.first { $0.contender == contender && $0.name == figure }
        return found.map { $0.value.map(Self.text) ?? "never" } ?? ""
      }
      lines.append(Self.line("  " + figure, cells))
    }
    return lines.joined(separator: "\n")
  }

  private static func line(_ title: String, _ cells: [String]) -> String {
    let padded = cells.map { String(repeating: " ", count: max(1, 14 - $0.count)) + $0 }
    return title + String(repeating: " ", count: max(1, 44 - title.count)) + padded.joined()
  }

  /// Formats a number without trailing zeros.
  private static func text(_ value: Double) -> String {
    value == value.rounded() && abs(value) < 1e15 ? "\(Int64(value))" : "\(value)"
  }

  private static func unique(_ names: [String]) -> [String] {
    names.reduce(into: []) { unique, name in
      if !unique.contains(name) { unique.append(name) }
    }
  }
}

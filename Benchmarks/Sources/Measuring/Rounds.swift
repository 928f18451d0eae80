import Foundation

/// Measures contenders in interleaved rounds. The first round warms up and is not counted.
public func interleaved<Round>(_ runs: Int, _ round: () async throws -> Round) async rethrows -> [Round] {
  var rounds: [Round] = []
  for run in 0...runs {
    let figures = try await round()
    if run > 0 { rounds.append(figures) }
  }
  return rounds
}

/// Measures contenders in interleaved rounds, every other of them in reverse order. The first round warms up and is not
/// counted. Returns the figures of each contender.
public func alternating<Contender: Hashable, Figure>(
  _ runs: Int, _ contenders: [Contender], _ measure: (Contender) async throws -> Figure
) async rethrows -> [Contender: [Figure]] {
  var figures: [Contender: [Figure]] = [:]
  for run in 0...runs {
    for contender in run.isMultiple(of: 2) ? contenders : contenders.reversed() {
      let figure = try await measure(contender)
      if run > 0 { figures[contender, default: []].append(figure) }
    }
  }
  return figures
}

/// Prints values as median [lowest, highest].
public func report(_ name: String, _ figures: [Double], digits: Int = 2) {
  let sorted = figures.sorted()
  func text(_ figure: Double) -> String { String(format: "%.\(digits)f", figure) }
  let padding = String(repeating: " ", count: max(1, 52 - name.count))
  print("\(name)\(padding)\(text(sorted[sorted.count / 2]))  [\(text(sorted[0])), \(text(sorted[sorted.count - 1]))]")
}

/// Returns the sorted values inside the 95 % confidence interval of the median, for any distribution.
///
/// The interval is that of the sign test, so outliers caused by other load have little effect. Fewer than 6 values are
/// too few for this confidence, so all of them are returned.
public func boundsOfMedian(_ figures: [Double]) -> [Double] {
  let sorted = figures.sorted()
  let count = Double(sorted.count)
  let outside = max(0, Int((count - 1.96 * count.squareRoot()) / 2) - 1)
  return Array(sorted[outside..<(sorted.count - outside)])
}

import Foundation

/// Measures in rounds, in each of which everybody has a turn; the first, which warms all up, does not count.
public func interleaved<Round>(_ runs: Int, _ round: () async throws -> Round) async rethrows -> [Round] {
  var rounds: [Round] = []
  for run in 0...runs {
    let figures = try await round()
    if run > 0 { rounds.append(figures) }
  }
  return rounds
}

/// Prints figures as median [lowest, highest].
public func report(_ name: String, _ figures: [Double], digits: Int = 2) {
  let sorted = figures.sorted()
  func text(_ figure: Double) -> String { String(format: "%.\(digits)f", figure) }
  let padding = String(repeating: " ", count: max(1, 52 - name.count))
  print("\(name)\(padding)\(text(sorted[sorted.count / 2]))  [\(text(sorted[0])), \(text(sorted[sorted.count - 1]))]")
}

import Foundation
import MallocCounter
import Measuring

/// The cost of an operation.
private struct Cost {
  let microseconds: Double
  let allocations: Double

  /// Measures the thread's processor time and the process's allocations.
  static func of(_ count: Int, _ operation: (Int) throws -> Void) rethrows -> Cost {
    let allocations = malloc_counter_count()
    let start = threadMicroseconds()
    try operation(count)
    let time = threadMicroseconds() - start
    return Cost(
      microseconds: time / Double(count), allocations: Double(malloc_counter_count() - allocations) / Double(count))
  }
}

/// The measured figures of a row.
struct Measurement {
  private let rounds: [[Contender: Cost]]

  /// Measures all contenders in interleaved rounds, in reverse order in every second round.
  static func of(_ row: Row, rounds: Int) throws -> Measurement {
    let workload = try row.workload()
    try workload.check()
    let contenders = Contender.allCases.compactMap { name in workload.contenders[name].map { (name: name, run: $0) } }
    // A round takes about 20 ms. The first round is a warm-up and is not counted.
    let counts = try contenders.map { contender in
      let once = try Cost.of(1, contender.run)
      return max(1, Int(20_000 / min(once.microseconds, try Cost.of(3, contender.run).microseconds)))
    }
    var measured: [[Contender: Cost]] = []
    for round in 0...rounds {
      var costs: [Contender: Cost] = [:]
      let order = round.isMultiple(of: 2) ? Array(contenders.indices) : contenders.indices.reversed()
      for index in order {
        costs[contenders[index].name] = try Cost.of(counts[index], contenders[index].run)
      }
      if round > 0 { measured.append(costs) }
    }
    return Measurement(rounds: measured)
  }

  func has(_ contender: Contender) -> Bool { rounds.first?[contender] != nil }

  /// Returns the median time of a contender in microseconds.
  func time(_ contender: Contender) -> String {
    let time = median(rounds.compactMap { $0[contender]?.microseconds })
    return time.formatted(.number.precision(.fractionLength(time < 100 ? 1 : 0)))
  }

  /// Returns the time of Apus divided by the time of another contender: median [lowest, highest] over the rounds.
  func ratio(to other: Contender) -> String {
    let ratios = rounds.compactMap { costs in
      costs[.apus].flatMap { apus in costs[other].map { apus.microseconds / $0.microseconds } }
    }
    return "\(text(median(ratios))) [\(text(ratios.min() ?? 0)), \(text(ratios.max() ?? 0))]"
  }

  /// The allocations of an operation: Apus, Foundation and their ratio.
  var allocations: String {
    let (apus, foundation) = (allocations(of: .apus), allocations(of: .foundation))
    let counts = [apus, foundation].map { $0.formatted(.number.precision(.fractionLength(0))) }
    return "\(counts[0]) | \(counts[1]) | \(foundation > 0 ? text(apus / foundation) : "–")"
  }

  private func allocations(of contender: Contender) -> Double {
    median(rounds.compactMap { $0[contender]?.allocations })
  }

  private func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

  private func text(_ ratio: Double) -> String { String(format: "%.2f", ratio) }
}

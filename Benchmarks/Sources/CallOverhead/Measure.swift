import MallocCounter

/// The measured cost of an operation.
struct Cost {
  let nanoseconds: Double
  let allocations: Double

  /// Measures the mean cost of consecutive operations.
  static func of(_ count: Int, _ operation: () async throws -> Void) async throws -> Cost {
    let allocations = malloc_counter_count()
    let start = ContinuousClock.now
    for _ in 0..<count { try await operation() }
    let time = start.duration(to: .now)
    let allocated = malloc_counter_count() - allocations
    let (seconds, attoseconds) = time.components
    let nanoseconds = Double(seconds) * 1e9 + Double(attoseconds) / 1e9
    return Cost(nanoseconds: nanoseconds / Double(count), allocations: Double(allocated) / Double(count))
  }
}

/// Measures an operation: the median of several runs after a warm-up.
func measure(
  count: Int = 20_000, runs: Int = 7, _ operation: () async throws -> Void
) async throws -> Cost {
  for _ in 0..<count / 4 { try await operation() }
  var costs: [Cost] = []
  for _ in 0..<runs { costs.append(try await Cost.of(count, operation)) }
  costs.sort { $0.nanoseconds < $1.nanoseconds }
  return Cost(
    nanoseconds: costs[costs.count / 2].nanoseconds,
    allocations: costs.map(\.allocations).sorted()[costs.count / 2])
}

import Foundation

/// What one call of a run cost, in microseconds.
struct Usage {
  let wall: Double
  let processor: Double

  static func of(_ calls: Int, _ call: () async throws -> Void) async throws -> Usage {
    let processorBefore = processorTime()
    let start = ContinuousClock.now
    for _ in 0..<calls { try await call() }
    let (seconds, attoseconds) = start.duration(to: .now).components
    let wall = Double(seconds) * 1e6 + Double(attoseconds) / 1e12
    return Usage(wall: wall / Double(calls), processor: (processorTime() - processorBefore) / Double(calls))
  }

  /// Microseconds of processor time this process has used, on all threads.
  private static func processorTime() -> Double {
    var usage = rusage()
    #if os(Linux)
      getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    #else
      getrusage(RUSAGE_SELF, &usage)
    #endif
    let user = Double(usage.ru_utime.tv_sec) * 1e6 + Double(usage.ru_utime.tv_usec)
    let system = Double(usage.ru_stime.tv_sec) * 1e6 + Double(usage.ru_stime.tv_usec)
    return user + system
  }
}

import Foundation

/// What one call of a run cost, in microseconds.
public struct Usage: Sendable {
  /// By the clock.
  public let wall: Double
  /// Of processor time.
  public let processor: Double

  /// Makes calls, so many at once.
  public static func of(
    _ calls: Int, inFlight: Int = 1, _ call: @escaping @Sendable () async throws -> Void
  ) async throws -> Usage {
    let before = Used.now.processor
    let start = ContinuousClock.now
    if inFlight == 1 {
      for _ in 0..<calls { try await call() }
    } else {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<inFlight {
          group.addTask { for _ in 0..<(calls / inFlight) { try await call() } }
        }
        try await group.waitForAll()
      }
    }
    let wall = start.duration(to: .now).microseconds
    return Usage(wall: wall / Double(calls), processor: (Used.now.processor - before) / Double(calls))
  }
}

/// What this process has used so far.
public struct Used: Sendable {
  /// Microseconds of processor time, on all threads.
  public let processor: Double
  /// The most memory it ever had, in MiB.
  public let peak: Double

  /// As it is now.
  public static var now: Used {
    var usage = rusage()
    #if os(Linux)
      getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
      let bytes = Double(usage.ru_maxrss) * 1024
    #else
      getrusage(RUSAGE_SELF, &usage)
      let bytes = Double(usage.ru_maxrss)
    #endif
    let user = Double(usage.ru_utime.tv_sec) * 1e6 + Double(usage.ru_utime.tv_usec)
    let system = Double(usage.ru_stime.tv_sec) * 1e6 + Double(usage.ru_stime.tv_usec)
    return Used(processor: user + system, peak: bytes / 1_048_576)
  }
}

extension Duration {
  /// As microseconds.
  public var microseconds: Double { Double(components.seconds) * 1e6 + Double(components.attoseconds) / 1e12 }
}

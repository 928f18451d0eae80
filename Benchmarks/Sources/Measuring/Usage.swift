import Foundation

/// The cost of a call, in microseconds.
public struct Usage: Sendable {
  /// Wall time.
  public let wall: Double
  /// Processor time.
  public let processor: Double

  /// Makes calls with a fixed concurrency.
  public static func of(
    _ calls: Int, inFlight: Int = 1, _ call: @escaping @Sendable () async throws -> Void
  ) async throws -> Usage {
    try await byCaller(calls, inFlight: inFlight) { _ in try await call() }
  }

  /// Makes calls with a fixed concurrency. The function gets the index of the caller.
  public static func byCaller(
    _ calls: Int, inFlight: Int, _ call: @escaping @Sendable (Int) async throws -> Void
  ) async throws -> Usage {
    let before = Used.now.processor
    let start = ContinuousClock.now
    if inFlight == 1 {
      for _ in 0..<calls { try await call(0) }
    } else {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for caller in 0..<inFlight {
          group.addTask { for _ in 0..<(calls / inFlight) { try await call(caller) } }
        }
        try await group.waitForAll()
      }
    }
    let wall = start.duration(to: .now).microseconds
    return Usage(wall: wall / Double(calls), processor: (Used.now.processor - before) / Double(calls))
  }
}

/// The resources used by this process.
public struct Used: Sendable {
  /// The processor time of all threads in microseconds.
  public let processor: Double
  /// The peak memory in MiB.
  public let peak: Double

  /// Returns the current usage.
  public static var now: Used {
    let usage = usage(of: ownProcess)
    return Used(processor: usage.processor, peak: Double(usage.ru_maxrss) * unitOfMemory / 1_048_576)
  }

  /// Returns the processor time of all child processes that have ended, in microseconds.
  public static var processorOfChildren: Double { usage(of: children).processor }
}

#if os(Linux)
private typealias Processes = __rusage_who_t
private let ownProcess = Processes(RUSAGE_SELF.rawValue)
private let children = Processes(RUSAGE_CHILDREN.rawValue)
private let unitOfMemory = 1024.0
#else
private typealias Processes = Int32
private let ownProcess = RUSAGE_SELF
private let children = RUSAGE_CHILDREN
private let unitOfMemory = 1.0
#endif

private func usage(of processes: Processes) -> rusage {
  var usage = rusage()
  getrusage(processes, &usage)
  return usage
}

extension rusage {
  /// The time in microseconds.
  fileprivate var processor: Double {
    let user = Double(ru_utime.tv_sec) * 1e6 + Double(ru_utime.tv_usec)
    return user + Double(ru_stime.tv_sec) * 1e6 + Double(ru_stime.tv_usec)
  }
}

/// Returns the processor time of the current thread in microseconds.
public func threadMicroseconds() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return Double(time.tv_sec) * 1e6 + Double(time.tv_nsec) / 1e3
}

extension Duration {
  /// The time in microseconds.
  public var microseconds: Double { Double(components.seconds) * 1e6 + Double(components.attoseconds) / 1e12 }
}

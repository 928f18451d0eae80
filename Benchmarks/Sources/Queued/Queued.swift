import Foundation

/// A program that measures hundreds of thousands of queued calls: the memory of each compared with a suspended task,
/// and the time to queue, cancel and release them all.
///
///     Queued [calls] [runs]     measures and prints
///     Queued one TRIAL CALLS    runs one trial and prints its figures; started as a child process
///
/// A watchdog ends trials that hang, with a message.
@main
struct Queued {
  static func main() async throws {
    // The program runs off the main actor, because callers should run on the global pool.
    try await Task.detached { try await run() }.value
  }

  @concurrent private static func run() async throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    let numbers = arguments.compactMap { Int($0) }
    let count = max(1, numbers.first ?? 100_000)
    guard arguments.first == "one" else {
      return try await Trial.compare(count, runs: max(1, numbers.dropFirst().first ?? 5))
    }
    guard arguments.count == 3, let trial = Trial(rawValue: arguments[1]) else { throw Unexpected() }
    Watchdog.watch("the trial \(trial)", seconds: trial.patience(count))
    let figures = try await trial.figures(count)
    print(figures.map { "\($0)" }.joined(separator: " "))
  }
}

/// An error that invalidates the measurement.
struct Unexpected: Error {}

/// A watchdog that ends the process when it hangs.
enum Watchdog {
  static func watch(_ what: String, seconds: Int) {
    // The watchdog has a separate thread, because the pool may be exhausted.
    Thread.detachNewThread {
      Thread.sleep(forTimeInterval: Double(seconds))
      FileHandle.standardError.write(Data("\(what) has not ended after \(seconds) seconds\n".utf8))
      _exit(1)
    }
  }
}

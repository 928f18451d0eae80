import Foundation

/// Calls that wait for their turn, by the hundred thousand: what each keeps in memory beside a task that only waits,
/// and how long it takes until all of them wait, to cancel them all, and to let them all go.
///
///     Queued [calls] [runs]     measures and prints
///     Queued one TRIAL CALLS    what it starts in processes of their own: prints the figures of one trial
///
/// It ends by itself: whatever has not ended after a time that is long enough is ended, with a message.
@main
struct Queued {
  static func main() async throws {
    // Off the main actor, where a program begins: callers are to be on the global pool.
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

/// Something that makes all figures worthless.
struct Unexpected: Error {}

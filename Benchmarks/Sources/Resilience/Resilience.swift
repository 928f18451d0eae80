import Foundation

/// A program that runs the scenarios of docs/resilience.md: real clients with simulated servers and links, in virtual
/// time.
///
///     Resilience FOLDER [seed]     writes curves and figures to the folder and prints the figures; the same seed,
///                                  1 by default, gives the same files
@main
struct Resilience {
  static let scenarios: [any Scenario] = [
    HalfCapacity(name: "half-capacity", places: 500),
    HalfCapacity(name: "half-capacity-short-queue", places: 50),
    RetryStorm(name: "retry-storm", retryAfter: nil),
    RetryStorm(name: "retry-storm-retry-after", retryAfter: .seconds(5)),
    HalfCapacity(name: "half-capacity-endpoints", places: 500, endpoints: 20),
    HalfCapacity(name: "half-capacity-short-queue-endpoints", places: 50, endpoints: 20),
    RetryStorm(name: "retry-storm-endpoints", retryAfter: nil, endpoints: 20),
    RetryStorm(name: "retry-storm-retry-after-endpoints", retryAfter: .seconds(5), endpoints: 20),
    FailingEndpoint(name: "failing-endpoint"),
    HeldImages(name: "held-images"),
  ]

  static func main() async throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    let seed = arguments.count > 1 ? UInt64(arguments[1]) : 1
    guard let folder = arguments.first, arguments.count <= 2, let seed else {
      print("usage: Resilience FOLDER [seed]")
      exit(2)
    }
    let files = URL(fileURLWithPath: folder, isDirectory: true)
    try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
    var summary = ["scenario,contender,figure,value", "run,all,seed,\(seed)"]
    print("seed \(seed)")
    let clock = ContinuousClock()
    for scenario in scenarios {
      let start = clock.now
      let outcome = try await scenario.run(seed: seed)
      let taken = clock.now - start
      try write(outcome.curves, to: files.appendingPathComponent("\(outcome.name).csv"))
      summary += outcome.rows
      print("\n\(outcome.table)\n\(effort(of: outcome, in: taken))")
    }
    try write(summary.joined(separator: "\n") + "\n", to: files.appendingPathComponent("summary.csv"))
  }

  /// Returns the cost of the simulation as text. The cost depends on the machine, so it is not written to a file.
  private static func effort(of outcome: Outcome, in time: Duration) -> String {
    let seconds = time / .seconds(1)
    let rate = Int(Double(outcome.calls) / max(seconds, 0.001))
    let simulated = Int(outcome.simulated / .seconds(1))
    let taken = String(format: "%.1f", seconds)
    return "  \(outcome.calls) calls in \(simulated) simulated seconds, \(taken) s of real time: \(rate) calls a second"
  }

  private static func write(_ text: String, to file: URL) throws {
    try Data(text.utf8).write(to: file, options: .atomic)
  }
}

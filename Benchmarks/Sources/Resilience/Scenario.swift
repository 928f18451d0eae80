/// Something that happens to several contenders, each in a world of its own with the same seed.
protocol Scenario: Sendable {
  /// Names the file of its curves, and its rows in the summary.
  var name: String { get }

  /// Runs it.
  func run(seed: UInt64) async throws -> Outcome
}

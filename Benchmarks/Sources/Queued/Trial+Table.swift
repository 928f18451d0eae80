import Foundation
import Measuring

extension Trial {
  private var title: String {
    switch self {
    case .tasks: "a task that only waits"
    case .unanswered: "a call that waits for its answer; cancelled by tag"
    case .cancelledByTag: "a call that is held; cancelled by tag"
    case .cancelledByTask: "a call that is held; cancelled with its task"
    case .released: "a call that is held; let go, 64 at a time"
    case .full: "while as many wait as may"
    }
  }

  /// What its figures are, each with the digits that mean something.
  private var columns: [(name: String, digits: Int)] {
    guard self != .full else {
      return [
        ("a call with nobody waiting, µs", 2), ("  allocations", 1), ("a call that passes those that wait, µs", 2),
        ("  allocations", 1), ("a call that is refused, µs", 2), ("  allocations", 1),
      ]
    }
    return [
      ("bytes that are resident, each", 0), ("bytes that are handed out, each", 0), ("allocations, each", 1),
      ("µs until it waits, each", 2), ("ms until all are told", 1), ("ms until all have ended", 1),
    ]
  }

  /// All of them, in turns.
  static func compare(_ count: Int, runs: Int) async throws {
    let patience = allCases.map { $0.patience(count) }.reduce(0, +) * (runs + 1)
    Watchdog.watch("the comparison", seconds: patience)
    let rows = try await interleaved(runs) {
      var row: [[Double]] = []
      for trial in allCases { row.append(try trial.measured(count)) }
      return row
    }
    print("\(count) at a time, each trial in a process of its own: \(runs) interleaved runs; median [lowest, highest]")
    for (index, trial) in allCases.enumerated() {
      print(trial.title)
      for (place, column) in trial.columns.enumerated() {
        report("  \(column.name)", rows.map { $0[index][place] }, digits: column.digits)
      }
      guard trial != .tasks, trial != .full else { continue }
      report("  beyond the task, bytes resident", rows.map { $0[index][0] - $0[0][0] }, digits: 0)
      report("  beyond the task, bytes handed out", rows.map { $0[index][1] - $0[0][1] }, digits: 0)
    }
  }

  /// Starts this program with other arguments, and gives the figures that it prints.
  private func measured(_ count: Int) throws -> [Double] {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
    process.arguments = ["one", rawValue, "\(count)"]
    process.standardOutput = output
    try process.run()
    let text = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    let figures = String(decoding: text, as: UTF8.self).split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
    guard process.terminationStatus == 0, figures.count == columns.count else { throw Unexpected() }
    return figures
  }
}

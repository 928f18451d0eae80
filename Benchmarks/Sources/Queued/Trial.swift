import Apus
import Foundation
import Measuring

/// A trial with many waiting calls or tasks. Each trial runs in a new process, whose heap has no free blocks to
/// reuse.
enum Trial: String, CaseIterable {
  /// Suspended tasks: the baseline.
  case tasks
  /// Calls in flight whose responses never arrive, cancelled by their tag.
  case unanswered
  /// Calls queued behind a held tag, cancelled by the tag.
  case cancelledByTag
  /// Calls queued behind a held tag, cancelled with their callers' tasks.
  case cancelledByTask
  /// Calls queued behind a held tag, then released and completed.
  case released
  /// Calls that arrive while the queue is full.
  case full

  /// Returns the seconds after which the trial is treated as hung.
  func patience(_ count: Int) -> Int { 60 + count / 1000 }

  func figures(_ count: Int) async throws -> [Double] {
    switch self {
    case .tasks: try await Self.waitAlone(count)
    case .unanswered: try await Self.waitUnanswered(count)
    case .cancelledByTag: try await Self.wait(count, .cancelled) { calls, _ in calls.cancelAll() }
    case .cancelledByTask: try await Self.wait(count, .cancelled) { _, crowd in crowd.cancel() }
    case .released: try await Self.wait(count, .answered) { calls, _ in calls.release() }
    case .full: try await Self.comeTooLate(count)
    }
  }

  private static func waitAlone(_ count: Int) async throws -> [Double] {
    let room = Room(count)
    let crowd = try await Crowd.gather(count, until: room.waiting == count) { _ in
      do {
        try await room.wait()
        return .answered
      } catch {
        return .cancelled
      }
    }
    return try await crowd.end(as: .cancelled) { crowd.cancel() }
  }

  private static func waitUnanswered(_ count: Int) async throws -> [Double] {
    let room = Room(count)
    let calls = HeldCalls(unansweredIn: room)
    let crowd = try await Crowd.gather(count, until: room.waiting == count) { await calls.image($0) }
    let figures = try await crowd.end(as: .cancelled) { calls.cancelAll() }
    guard calls.isIdle else { throw Unexpected() }
    return figures
  }

  private static func wait(
    _ count: Int, _ expected: Ending, _ end: (HeldCalls, Crowd) -> Void
  ) async throws -> [Double] {
    let calls = HeldCalls(count)
    // The first call is not measured, because it makes one-time allocations.
    guard await calls.list() == .answered else { throw Unexpected() }
    let crowd = try await Crowd.gather(count, until: calls.scheduler.queuedCount == count) { await calls.image($0) }
    let figures = try await crowd.end(as: expected) { end(calls, crowd) }
    guard calls.isIdle else { throw Unexpected() }
    return figures
  }

  // MARK: Full queue

  private static func comeTooLate(_ count: Int) async throws -> [Double] {
    let calls = HeldCalls(count)
    _ = try await cost(.answered) { await calls.list() }
    let alone = try await cost(.answered) { await calls.list() }
    let crowd = try await Crowd.gather(count, until: calls.scheduler.queuedCount == count) { await calls.image($0) }
    let passing = try await cost(.answered) { await calls.list() }
    let refused = try await cost(.refused) { await calls.image(0) }
    _ = try await crowd.end(as: .cancelled) { calls.cancelAll() }
    guard calls.isIdle else { throw Unexpected() }
    return alone + passing + refused
  }

  /// Returns the mean microseconds and allocations of consecutive calls.
  private static func cost(_ expected: Ending, _ call: () async -> Ending) async throws -> [Double] {
    let turns = 10_000
    let before = Memory.now
    let start = ContinuousClock.now
    for _ in 0..<turns {
      guard await call() == expected else { throw Unexpected() }
    }
    let time = start.duration(to: .now).microseconds / Double(turns)
    return [time, Memory.now.growth(since: before, each: turns)[2]]
  }
}

extension Trial {
  private var title: String {
    switch self {
    case .tasks: "a suspended task"
    case .unanswered: "a call in flight; cancelled by tag"
    case .cancelledByTag: "a held call; cancelled by tag"
    case .cancelledByTask: "a held call; cancelled with its task"
    case .released: "a held call; released, 64 at a time"
    case .full: "while the queue is full"
    }
  }

  /// The names of the figures, each with its number of significant decimals.
  private var columns: [(name: String, digits: Int)] {
    guard self != .full else {
      return [
        ("a call with an empty queue, µs", 2), ("  allocations", 1), ("a call that overtakes the queue, µs", 2),
        ("  allocations", 1), ("a refused call, µs", 2), ("  allocations", 1),
      ]
    }
    return [
      ("resident bytes, each", 0), ("allocated bytes, each", 0), ("allocations, each", 1),
      ("µs until it waits", 2), ("ms until all are notified", 1), ("ms until all have ended", 1),
    ]
  }

  /// Runs all trials alternately.
  static func compare(_ count: Int, runs: Int) async throws {
    let patience = allCases.map { $0.patience(count) }.reduce(0, +) * (runs + 1)
    Watchdog.watch("the comparison", seconds: patience)
    let rows = try await interleaved(runs) {
      var row: [[Double]] = []
      for trial in allCases { row.append(try trial.measured(count)) }
      return row
    }
    print("\(count) at a time, each trial in a new process: \(runs) interleaved runs; median [lowest, highest]")
    for (index, trial) in allCases.enumerated() {
      print(trial.title)
      for (place, column) in trial.columns.enumerated() {
        report("  \(column.name)", rows.map { $0[index][place] }, digits: column.digits)
      }
      guard trial != .tasks, trial != .full else { continue }
      report("  beyond the task, resident bytes", rows.map { $0[index][0] - $0[0][0] }, digits: 0)
      report("  beyond the task, allocated bytes", rows.map { $0[index][1] - $0[0][1] }, digits: 0)
    }
  }

  /// Runs this program with other arguments. Returns the figures that it prints.
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

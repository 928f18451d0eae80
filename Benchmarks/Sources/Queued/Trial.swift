import Apus
import Measuring

/// What is done with many that wait; each in a process of its own, where nothing was freed before that could be used
/// again.
enum Trial: String, CaseIterable {
  /// Tasks that only wait, beside which the calls are seen.
  case tasks
  /// Calls that have their permits and wait for answers that never come, cancelled by their tag.
  case unanswered
  /// Calls that wait behind a tag that is held, cancelled by it.
  case cancelledByTag
  /// The same, cancelled with the tasks that make them.
  case cancelledByTask
  /// The same, let go and answered.
  case released
  /// Calls that come while the queue is full.
  case full

  /// The seconds after which it is certain that something hangs.
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
    // What is made once, with the first call, is not theirs.
    guard await calls.list() == .answered else { throw Unexpected() }
    let crowd = try await Crowd.gather(count, until: calls.scheduler.waiting == count) { await calls.image($0) }
    let figures = try await crowd.end(as: expected) { end(calls, crowd) }
    guard calls.isIdle else { throw Unexpected() }
    return figures
  }

  // MARK: While the queue is full

  private static func comeTooLate(_ count: Int) async throws -> [Double] {
    let calls = HeldCalls(count)
    _ = try await cost(.answered) { await calls.list() }
    let alone = try await cost(.answered) { await calls.list() }
    let crowd = try await Crowd.gather(count, until: calls.scheduler.waiting == count) { await calls.image($0) }
    let passing = try await cost(.answered) { await calls.list() }
    let refused = try await cost(.refused) { await calls.image(0) }
    _ = try await crowd.end(as: .cancelled) { calls.cancelAll() }
    guard calls.isIdle else { throw Unexpected() }
    return alone + passing + refused
  }

  /// The microseconds and the allocations of one of many calls in a row.
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

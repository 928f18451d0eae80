import Measuring

/// Many waiting tasks, each with or without a call.
struct Crowd {
  let tasks: [Task<Ending, Never>]
  /// The memory that each task added, see ``Memory/growth(since:each:)``, and the microseconds until it waited.
  let figures: [Double]

  /// Starts the tasks and waits until all of them wait.
  static func gather(
    _ count: Int, until isComplete: @autoclosure () -> Bool, _ work: @escaping @Sendable (Int) async -> Ending
  ) async throws -> Crowd {
    var tasks: [Task<Ending, Never>] = []
    tasks.reserveCapacity(count)
    let before = Memory.now
    let start = ContinuousClock.now
    for number in 0..<count { tasks.append(Task { await work(number) }) }
    while !isComplete() { try await Task.sleep(for: .milliseconds(1)) }
    let time = start.duration(to: .now).microseconds / Double(count)
    // The last tasks are about to suspend.
    try await Task.sleep(for: .milliseconds(500))
    return Crowd(tasks: tasks, figures: Memory.now.growth(since: before, each: count) + [time])
  }

  /// Ends all tasks.
  ///
  /// - Returns: the figures, with the milliseconds until all were notified and until all had ended.
  func end(as expected: Ending, _ tell: () -> Void) async throws -> [Double] {
    let start = ContinuousClock.now
    tell()
    let told = start.duration(to: .now).microseconds / 1000
    for task in tasks {
      guard await task.value == expected else { throw Unexpected() }
    }
    return figures + [told, start.duration(to: .now).microseconds / 1000]
  }

  func cancel() {
    for task in tasks { task.cancel() }
  }
}

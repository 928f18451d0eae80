import Measuring

/// Many tasks that wait, each with what it may have called.
struct Crowd {
  let tasks: [Task<Ending, Never>]
  /// What each has added to memory, as ``Memory/growth(since:each:)`` has it, and the microseconds until it waited.
  let figures: [Double]

  /// Starts so many and waits until all of them wait.
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
    // The last of them are on their way to sleep still.
    try await Task.sleep(for: .milliseconds(500))
    return Crowd(tasks: tasks, figures: Memory.now.growth(since: before, each: count) + [time])
  }

  /// Has them all end.
  ///
  /// - Returns: its figures, and the milliseconds until all had been told and until all had ended.
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

import ApusCore

/// Performs what happens before the head of an answer, within the limit of the attempt.
final class StubLimit: DeadlineTarget {
  /// The time was up before the head was there.
  struct Passed: Error {}

  private let over = Gate()

  func deadlinePassed() {
    over.open()
  }

  /// - Throws: ``Passed``; what a step throws; `CancellationError`.
  static func perform(_ steps: [StubAnswer.Step], in context: ExchangeContext) async throws {
    for step in steps {
      guard let deadline = context.attemptDeadline else {
        _ = try await step.perform(on: context.clock)
        continue
      }
      switch step {
      case .pause(let time):
        let end = context.clock.now.advanced(by: time)
        try await context.clock.sleep(until: min(end, deadline))
      case .wait(let gate): try await wait(for: gate, in: context)
      case .piece, .fail: _ = try await step.perform(on: context.clock)
      }
      if context.isAttemptOver { throw Passed() }
    }
    // What a function answered with, it may have taken its time for.
    if context.isAttemptOver { throw Passed() }
  }

  private static func wait(for gate: Gate, in context: ExchangeContext) async throws {
    let limit = StubLimit()
    let alarm = context.alarm(for: limit)
    defer { alarm?.cancel() }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await gate.wait() }
      group.addTask {
        try await limit.over.wait()
        throw Passed()
      }
      defer { group.cancelAll() }
      _ = try await group.next()
    }
  }
}

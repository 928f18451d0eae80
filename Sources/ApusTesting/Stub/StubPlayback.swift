import ApusCore
import ApusWaiting
import HTTPTypes
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An attempt that performs the steps before the head of a reply, up to the attempt's deadline.
final class StubAttempt: DeadlineTarget {
  /// The error of an attempt whose deadline passed before the head.
  struct DeadlinePassed: Error {}

  private let over = Gate()

  func deadlinePassed() {
    over.open()
  }

  /// - Throws: ``DeadlinePassed``; any error a step throws; `CancellationError`.
  static func perform(_ steps: [StubReply.Step], in context: ExchangeContext) async throws {
    for step in steps {
      guard let deadline = context.attemptDeadline else {
        _ = try await step.perform(on: context.clock)
        continue
      }
      switch step {
      case .pause(let time):
        let end = context.clock.now.advanced(by: time)
        try await context.clock.sleep(until: min(end, deadline))
      case .wait(let gate): try await wait(in: context) { try await gate.wait() }
      case .stall: try await wait(in: context) { _ = try await step.perform(on: context.clock) }
      case .piece, .fail: _ = try await step.perform(on: context.clock)
      }
      if context.isAttemptOver { throw DeadlinePassed() }
    }
    // Checked even without steps, because the closure that made the reply may have taken too long.
    if context.isAttemptOver { throw DeadlinePassed() }
  }

  private static func wait(
    in context: ExchangeContext, _ wait: @escaping @Sendable () async throws -> Void
  ) async throws {
    let attempt = StubAttempt()
    let alarm = context.alarm(for: attempt)
    defer { alarm?.cancel() }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await wait() }
      group.addTask {
        try await attempt.over.wait()
        throw DeadlinePassed()
      }
      defer { group.cancelAll() }
      _ = try await group.next()
    }
  }
}

/// A content source that performs a reply's content steps while it is read.
final class StubContentSource: ContentSource {
  private let steps: Mutex<ArraySlice<StubReply.Step>>
  private let cancelled = Gate()
  private let clock: any MonotonicClock
  let trailers: HTTPFields

  init(_ reply: StubReply, clock: any MonotonicClock) {
    steps = Mutex(reply.content[...])
    trailers = reply.trailers
    self.clock = clock
  }

  func next() async throws -> Data? {
    while true {
      if cancelled.isOpen { throw CancellationError() }
      guard let step = steps.withLock({ $0.popFirst() }) else { return nil }
      if let piece = try await perform(step) { return piece }
    }
  }

  func cancel() {
    cancelled.open()
  }

  /// Performs a step. Throws as soon as the content is discarded.
  private func perform(_ step: StubReply.Step) async throws -> Data? {
    switch step {
    case .piece, .fail: return try await step.perform(on: clock)
    case .wait, .pause, .stall: break
    }
    return try await withThrowingTaskGroup(of: Data?.self) { group in
      group.addTask { [clock] in try await step.perform(on: clock) }
      group.addTask { [cancelled] in
        try await cancelled.wait()
        throw CancellationError()
      }
      defer { group.cancelAll() }
      return try await group.next() ?? nil
    }
  }
}

import ApusCore
import HTTPTypes
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Performs the steps of an answer's content while it is read.
final class StubContentSource: ContentSource {
  private let steps: Mutex<ArraySlice<StubAnswer.Step>>
  private let cancelled = Gate()
  private let clock: any MonotonicClock
  let trailers: HTTPFields

  init(_ answer: StubAnswer, clock: any MonotonicClock) {
    steps = Mutex(answer.content[...])
    trailers = answer.trailers
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

  /// Performs a step, or throws as soon as the content is given up.
  private func perform(_ step: StubAnswer.Step) async throws -> Data? {
    switch step {
    case .piece, .fail: return try await step.perform(on: clock)
    case .wait, .pause: break
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

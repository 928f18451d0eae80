import Dispatch
import Synchronization

/// Work that blocks its thread, on a queue of its own: never on the threads that tasks share.
struct Blocking: Sendable {
  private let queue: DispatchQueue

  /// Makes a queue; work on it runs in order, a piece at a time.
  init(_ name: String) {
    queue = DispatchQueue(label: "apus.\(name)")
  }

  /// Runs the work to its end, also when the task is cancelled.
  func run<Output: Sendable>(_ work: @escaping @Sendable () -> Output) async -> Output {
    await withCheckedContinuation { waiter in
      queue.async { waiter.resume(returning: work()) }
    }
  }

  /// Runs the work; a task that is cancelled does not wait for its end.
  ///
  /// - Throws: `CancellationError`. The work then ends when it will, and its outcome is lost.
  func runUnlessCancelled<Output: Sendable>(_ work: @escaping @Sendable () -> Output) async throws -> Output {
    let once = Once<Output>()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { waiter in
        guard once.wait(waiter) else { return waiter.resume(throwing: CancellationError()) }
        queue.async {
          // Nobody waits any more: what has not begun need not begin.
          if once.isWaiting { once.end(.success(work())) }
        }
      }
    } onCancel: {
      once.end(.failure(CancellationError()))
    }
  }

  /// Starts the work, and waits for nothing.
  func start(_ work: @escaping @Sendable () -> Void) {
    queue.async(execute: work)
  }
}

/// Somebody who waits for an outcome, which comes once.
private final class Once<Output: Sendable>: Sendable {
  private enum State {
    case new
    case waiting(CheckedContinuation<Output, any Error>)
    case over
  }

  private let state = Mutex(State.new)

  var isWaiting: Bool {
    state.withLock { if case .waiting = $0 { true } else { false } }
  }

  /// Waits, unless it is over already.
  func wait(_ waiter: CheckedContinuation<Output, any Error>) -> Bool {
    state.withLock { state in
      guard case .new = state else { return false }
      state = .waiting(waiter)
      return true
    }
  }

  func end(_ outcome: Result<Output, any Error>) {
    let waiter = state.withLock { state -> CheckedContinuation<Output, any Error>? in
      defer { state = .over }
      if case .waiting(let waiter) = state { return waiter }
      return nil
    }
    waiter?.resume(with: outcome)
  }
}

import Dispatch
import Synchronization

/// A queue for work that blocks its thread, so that it does not block the threads of the concurrency runtime.
struct Blocking: Sendable {
  private let queue: DispatchQueue

  /// Creates a serial queue.
  init(_ name: String) {
    queue = DispatchQueue(label: "apus.\(name)")
  }

  /// Runs work to its end, even when the task is cancelled.
  func run<Output: Sendable>(_ work: @escaping @Sendable () -> Output) async -> Output {
    await withCheckedContinuation { waiter in
      queue.async { waiter.resume(returning: work()) }
    }
  }

  /// Runs work, and stops waiting for it when the task is cancelled.
  ///
  /// - Throws: `CancellationError`. The work then continues, and its result is discarded.
  func runUnlessCancelled<Output: Sendable>(_ work: @escaping @Sendable () -> Output) async throws -> Output {
    let once = Once<Output>()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { waiter in
        guard once.wait(waiter) else { return waiter.resume(throwing: CancellationError()) }
        queue.async {
          // Skipped if the task was cancelled before the start.
          if once.isWaiting { once.end(.success(work())) }
        }
      }
    } onCancel: {
      once.end(.failure(CancellationError()))
    }
  }

  /// Starts work without waiting for it.
  func start(_ work: @escaping @Sendable () -> Void) {
    queue.async(execute: work)
  }
}

/// A waiter for one result.
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

  /// Stores the waiter. Returns `false` if the wait has already ended.
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

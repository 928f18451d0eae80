import Dispatch
import Synchronization

/// A queue for work on files, which blocks its thread and so must not run on the threads of the concurrency runtime.
struct FileQueue: Sendable {
  private let queue: DispatchQueue

  /// Creates a queue that performs one piece of work after the other.
  init(_ name: String) {
    queue = DispatchQueue(label: "apus.transfers.\(name)")
  }

  /// Performs work to its end, even in a cancelled task.
  ///
  /// - Throws: the error of the work; those of files are converted.
  func run<Output: Sendable>(
    _ work: @escaping @Sendable () throws -> Output
  ) async throws(TransferError) -> Output {
    try await start(work).value
  }

  /// Starts work without waiting for it.
  func start<Output: Sendable>(
    _ work: @escaping @Sendable () throws -> Output
  ) -> FileWork<Output> {
    let result = FileWork<Output>()
    queue.async {
      do throws(TransferError) {
        result.complete(.success(try TransferError.converting(work)))
      } catch {
        result.complete(.failure(error))
      }
    }
    return result
  }
}

/// The result of work on a file, for one waiter.
final class FileWork<Output: Sendable>: Sendable {
  private enum State {
    case running
    case awaited(CheckedContinuation<Result<Output, TransferError>, Never>)
    case done(Result<Output, TransferError>)
  }

  private let state = Mutex(State.running)

  fileprivate init() {}

  /// Whether the work is done.
  var isDone: Bool {
    state.withLock { if case .done = $0 { true } else { false } }
  }

  /// The output of the work.
  var value: Output {
    get async throws(TransferError) {
      try await withCheckedContinuation { waiter in
        let outcome: Result<Output, TransferError>? = state.withLock { state in
          if case .done(let outcome) = state { return outcome }
          state = .awaited(waiter)
          return nil
        }
        if let outcome { waiter.resume(returning: outcome) }
      }.get()
    }
  }

  fileprivate func complete(_ outcome: Result<Output, TransferError>) {
    let waiter: CheckedContinuation<Result<Output, TransferError>, Never>? = state.withLock { state in
      defer { state = .done(outcome) }
      if case .awaited(let waiter) = state { return waiter }
      return nil
    }
    waiter?.resume(returning: outcome)
  }
}

import Dispatch
import Synchronization

/// A queue for file operations. File operations block their thread, so they must not run on the threads of the
/// concurrency runtime.
struct FileQueue: Sendable {
  private let queue: DispatchQueue

  /// Creates a queue that performs its operations in order, one at a time.
  init(_ name: String) {
    queue = DispatchQueue(label: "apus.transfers.\(name)")
  }

  /// Performs an operation to its end, even in a cancelled task.
  ///
  /// - Throws: the error of the operation; a `FileError` becomes a ``TransferError``.
  func run<Output: Sendable>(
    _ work: @escaping @Sendable () throws -> Output
  ) async throws(TransferError) -> Output {
    try await start(work).value
  }

  /// Starts an operation without waiting for its result.
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

/// The result of a file operation, which one task awaits.
final class FileWork<Output: Sendable>: Sendable {
  private enum State {
    case running
    case awaited(CheckedContinuation<Result<Output, TransferError>, Never>)
    case done(Result<Output, TransferError>)
  }

  private let state = Mutex(State.running)

  fileprivate init() {}

  /// Whether the operation has ended.
  var isDone: Bool {
    state.withLock { if case .done = $0 { true } else { false } }
  }

  /// The output of the operation.
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

import ApusCore
import Synchronization

/// Work in a separate task. If the task that waits for the result is cancelled, the wait ends immediately, the work is
/// cancelled and its result is discarded. Work that ignores its cancellation therefore blocks no caller.
final class DetachedWork<Value: Sendable>: Sendable {
  private typealias Waiters = WaiterTable<Int, Result<Value, any Error>>

  private let waiters: Mutex<Waiters>

  private init() {
    var waiters = Waiters()
    waiters.register(0)
    self.waiters = Mutex(waiters)
  }

  /// Returns the result of the work.
  ///
  /// - Throws: the error of the work; `CancellationError` when the current task is cancelled before the work has ended.
  static func value(
    in context: CallContext, of work: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    let this = DetachedWork()
    let task = context.spawnDetached {
      do {
        this.end(.success(try await work()))
      } catch {
        this.end(.failure(error))
      }
    }
    return try await withWaiter { continuation in
      this.waiters.withLock { $0.suspend(0, continuation) }
    } onCancel: {
      task.cancel()
      this.abandon()
    }.get()
  }

  private func end(_ result: Result<Value, any Error>) {
    waiters.withLock { $0.resolve(0, with: result) }?.resume()
  }

  private func abandon() {
    // If the result has already arrived, it is delivered.
    let cancelled = waiters.withLock { $0.isPending(0) ? $0.cancel(0) : nil }
    if case .suspended(let continuation) = cancelled { continuation.resume(throwing: CancellationError()) }
  }
}

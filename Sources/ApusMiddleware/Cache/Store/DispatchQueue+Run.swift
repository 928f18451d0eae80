import Dispatch

extension DispatchQueue {
  /// Performs work on the queue. Operations on files block their thread, so they must not run on the threads of the
  /// concurrency runtime. The work is performed to its end, even in a cancelled task.
  func run<Output: Sendable>(_ work: @escaping @Sendable () -> Output) async -> Output {
    await withCheckedContinuation { continuation in
      async { continuation.resume(returning: work()) }
    }
  }
}

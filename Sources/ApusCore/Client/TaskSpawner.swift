/// The one place where tasks are created.
struct TaskSpawner: Sendable {
  /// Where the tasks run; `nil` is the global concurrent pool.
  let executor: (any TaskExecutor)?

  /// Starts a task that inherits the caller's priority and task-local values, but not its actor.
  func spawn<Success: Sendable>(_ operation: @escaping @Sendable @concurrent () async -> Success) -> Task<
    Success, Never
  > {
    Task(executorPreference: executor, operation: operation)
  }

  /// Starts the work of a call for a caller that waits for it.
  ///
  /// Where the caller runs on no actor it begins at once, on the caller's thread, where it would only wait: to wake
  /// another takes longer than to describe and send a small message.
  func spawn<Success: Sendable>(
    for caller: (any Actor)?, _ operation: @escaping @Sendable @concurrent () async throws -> Success
  ) -> Task<Success, any Error> {
    if caller == nil, executor == nil, #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
      return Task.immediate(operation: operation)  // available: asked for
    }
    return Task(executorPreference: executor, operation: operation)
  }

  /// Starts a task for several calls that need the same: as ``spawn(_:)``, but bound by no deadline that whoever began
  /// it inherits.
  func spawnShared<Success: Sendable>(
    _ operation: @escaping @Sendable @concurrent () async -> Success
  ) -> Task<Success, Never> {
    DeadlineScope.without { spawn(operation) }
  }

  /// Starts a task that inherits nothing: for work that serves many calls and must outlive its first one.
  func spawnDetached<Success: Sendable>(
    _ operation: @escaping @Sendable @concurrent () async -> Success
  ) -> Task<Success, Never> {
    Task.detached(executorPreference: executor, operation: operation)
  }
}

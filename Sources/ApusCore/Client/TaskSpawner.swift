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

  /// Starts a task that inherits nothing: for work that serves many calls and must outlive its first one.
  func spawnDetached<Success: Sendable>(
    _ operation: @escaping @Sendable @concurrent () async -> Success
  ) -> Task<Success, Never> {
    Task.detached(executorPreference: executor, operation: operation)
  }
}

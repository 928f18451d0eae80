/// What a client takes from its surroundings: time, tasks, randomness and ids.
///
/// Every source of non-determinism comes in here, so that a test can replace each by one it controls.
public struct Runtime: Sendable {
  /// Times events and limits calls. Default: ``SystemClock``.
  public var clock: any MonotonicClock
  /// Runs every task that the client creates. Default: `nil`, the global concurrent pool; a call of a caller on no actor
  /// then begins on its caller's thread, and goes on in the pool once it has waited for anything.
  public var executor: (any TaskExecutor)?
  /// The most bytes of content whose value is made on ``executor``: decoding more would hold up what else it runs, so
  /// that happens on the global pool. Means nothing without an executor. Default: 16 KiB.
  public var decodedOnExecutor = 16 << 10
  /// 64 random bits; must be unpredictable in production. Default: the system's generator.
  public var random: @Sendable () -> UInt64
  /// The serial number of the next call; must never repeat within a client. Default: `nil`, which
  /// counts up from 1 in each client.
  public var nextSerial: (@Sendable () -> UInt64)?

  /// The system's clock, pool and random generator, and serial numbers from 1.
  public init(
    clock: any MonotonicClock = SystemClock(), executor: (any TaskExecutor)? = nil,
    random: @escaping @Sendable () -> UInt64 = { UInt64.random(in: .min ... .max) },
    nextSerial: (@Sendable () -> UInt64)? = nil
  ) {
    self.clock = clock
    self.executor = executor
    self.random = random
    self.nextSerial = nextSerial
  }
}

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

/// Work that can be cancelled.
protocol Cancellable: Sendable {
  func cancel()
}

extension Task: Cancellable {}

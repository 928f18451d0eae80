/// A client's sources of nondeterminism: clock, executor, random numbers and serial numbers.
///
/// Tests replace them with sources that they control.
public struct Runtime: Sendable {
  /// The clock that measures events and limits calls. Default: ``SystemClock``.
  public var clock: any MonotonicClock
  /// The executor of all tasks that the client creates. Default: `nil`, the global concurrent pool. A call whose caller
  /// is on no actor then begins on the caller's thread. After its first suspension a call continues in the pool, or, with
  /// the SwiftNIO transport and a response of at most 16 KiB, on the event loop where the response arrived.
  public var executor: (any TaskExecutor)?
  /// The maximum number of content (body) bytes that are decoded on ``executor``. Larger content is decoded on the
  /// global pool, so that it does not block the executor. Ignored without an executor. Default: 16 KiB.
  package var executorDecodingLimit = smallContent
  /// The maximum number of content bytes that are decoded on a thread that serves connections.
  package static var smallContent: Int { 16 << 10 }
  /// Returns 64 random bits. Must be unpredictable in production. Default: the system's generator.
  public var random: @Sendable () -> UInt64
  /// Returns the serial number of the next call. Must never repeat within a client. Default: `nil`, which counts up
  /// from 1 in each client.
  public var nextSerial: (@Sendable () -> UInt64)?

  /// Creates a runtime. Default: the system's clock, pool and random generator, and serial numbers from 1.
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

/// A factory of all tasks of a client.
struct TaskSpawner: Sendable {
  /// The executor of the tasks. `nil` means the global concurrent pool.
  let executor: (any TaskExecutor)?
  /// The executor of the work of calls: ``executor``, or the executor of the transport (``ContinuingTransport``).
  private let callExecutor: (any TaskExecutor)?

  init(executor: (any TaskExecutor)?, continuations: (any TaskExecutor)? = nil) {
    self.executor = executor
    callExecutor = executor ?? continuations
  }

  /// Starts a task that inherits the caller's priority and task-local values, but not its actor.
  func spawn<Success: Sendable>(_ operation: @escaping @Sendable @concurrent () async -> Success) -> Task<
    Success, Never
  > {
    Task(executorPreference: executor, operation: operation)
  }

  /// Starts the work of a call while its caller waits.
  ///
  /// If the caller is on no actor, the work begins immediately on the caller's thread, because waking another thread
  /// takes longer than sending a small message.
  func spawn<Success: Sendable>(
    for caller: (any Actor)?, _ operation: @escaping @Sendable @isolated(any) () async throws -> Success
  ) -> Task<Success, any Error> {
    if caller == nil, executor == nil, #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
      return Task.immediate(executorPreference: callExecutor, operation: operation)  // available: asked for
    }
    return Task(executorPreference: callExecutor, operation: operation)
  }

  /// Starts a task that serves several calls, like ``spawn(_:)`` but without an inherited deadline.
  func spawnShared<Success: Sendable>(
    _ operation: @escaping @Sendable @concurrent () async -> Success
  ) -> Task<Success, Never> {
    DeadlineScope.without { spawn(operation) }
  }

  /// Starts a task that inherits nothing, for work that serves many calls and outlives the first call.
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

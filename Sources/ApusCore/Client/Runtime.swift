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

/// A clock of virtual time that advances by itself once all work of its clients waits.
package protocol SelfAdvancingClock: AnyObject, MonotonicClock {
  /// The executor that observes the tasks of the clients; `nil` if the clock does not advance by itself.
  var observingExecutor: (any TaskExecutor)? { get }

  /// Sleeps like ``MonotonicClock/sleep(until:)``, as a time limit for work that continues during the sleep. The clock
  /// does not advance for this sleeper alone.
  func sleepForTimeout(until instant: MonotonicInstant) async throws

  /// Stops the clock until every ``hold()`` is ended by a ``release()``.
  func hold()

  /// Ends a ``hold()``.
  func release()

  /// Performs work that waits for events outside the client. During the work the clock stands still, except while the
  /// work sleeps on the clock.
  func standStill<Output>(during work: () async throws -> Output) async throws -> Output
}

extension MonotonicClock {
  /// This clock, if it advances by itself.
  package var selfAdvancing: (any SelfAdvancingClock)? {
    guard let clock = self as? any SelfAdvancingClock, clock.observingExecutor != nil else { return nil }
    return clock
  }

  /// Sleeps until the end of a time limit for work that continues during the sleep.
  ///
  /// - Throws: `CancellationError` if the task is cancelled first.
  package func sleepUntilLimit(_ instant: MonotonicInstant) async throws {
    guard let selfAdvancing else { return try await sleep(until: instant) }
    try await selfAdvancing.sleepForTimeout(until: instant)
  }
}

import ApusCore

/// Work of a test's author, on the simulation's clock.
extension SimulatedWorld {
  /// Starts work beside what runs. The simulation lasts until all of it has ended, and fails when any of it throws.
  public func spawn(_ work: @escaping @Sendable () async throws -> Void) {
    tasks.spawn(work)
  }

  /// Starts work again and again, whether or not what was started before has ended: calls that people make.
  ///
  /// - Parameters:
  ///   - pause: the time before each start, at least a nanosecond.
  ///   - duration: how long to go on.
  ///   - work: gets its number, from 0. What it throws makes the simulation fail.
  public func every(
    _ pause: DurationDistribution, for duration: Duration, _ work: @escaping @Sendable (Int) async throws -> Void
  ) {
    let drawing = generator()
    spawn {
      var drawing = drawing
      let end = self.now + duration
      var number = 0
      while true {
        let next = self.now + max(.nanoseconds(1), pause.sample(using: &drawing))
        guard next < end else { return }
        try await self.sleep(until: next)
        let started = number
        self.spawn { try await work(started) }
        number += 1
      }
    }
  }

  /// Has something happen at a time since the simulation began. The simulation does not wait for it.
  public func at(_ time: Duration, _ action: @escaping @Sendable () -> Void) {
    clock.plan(at: MonotonicInstant(sinceStart: time), action)
  }

  /// Waits for a while.
  ///
  /// - Throws: `CancellationError` when the task is cancelled, as all are when the simulation fails.
  public func sleep(for duration: Duration) async throws {
    try await sleep(until: now + duration)
  }

  /// Waits until so much time has passed since the simulation began.
  ///
  /// - Throws: `CancellationError` when the task is cancelled, as all are when the simulation fails.
  public func sleep(until time: Duration) async throws {
    try await clock.sleep(until: MonotonicInstant(sinceStart: time))
  }

  /// Writes a line into the report.
  public func note(_ text: String) {
    recorder.record(.note(text))
  }
}

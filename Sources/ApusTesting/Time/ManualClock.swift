public import ApusCore

/// A clock that stands still until a test moves it.
///
/// ```swift
/// let clock = ManualClock()
/// var settings = ClientSettings()
/// settings.runtime.clock = clock
/// // … a call waits for its deadline …
/// try await clock.waitForSleepers(1)
/// clock.advance(by: .seconds(30))
/// ```
public final class ManualClock: MonotonicClock {
  private typealias Sleeper = CheckedContinuation<Void, any Error>
  private typealias State = ManualClockState<CheckedContinuation<Void, any Error>>

  private let watched: Watched<State>

  /// Makes a clock that shows `start`. Default: zero.
  public init(at start: MonotonicInstant = MonotonicInstant(sinceStart: .zero)) {
    watched = Watched(State(now: start))
  }

  /// The instant the clock was last moved to.
  public var now: MonotonicInstant { watched.state.now }

  /// How many tasks sleep.
  public var sleepers: Int { watched.state.count }

  /// When the next sleeper wakes; `nil` when nobody sleeps.
  public var nextWake: MonotonicInstant? { watched.state.nextWake }

  /// Sleeps until the clock is moved to `instant` or beyond; returns at once when it is there already.
  ///
  /// - Throws: `CancellationError` when the sleeping task is cancelled.
  public func sleep(until instant: MonotonicInstant) async throws {
    let id = watched.update { $0.newID() }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (sleeper: Sleeper) in
        let answer = watched.update { state -> State.Answer in
          // Asked under the lock: a cancellation before is seen here, a later one finds the sleeper.
          Task.isCancelled ? .cancelled : state.sleep(sleeper, until: instant, id: id)
        }
        switch answer {
        case .sleeps: break
        case .passed: sleeper.resume()
        case .cancelled: sleeper.resume(throwing: CancellationError())
        }
      }
    } onCancel: {
      watched.update { $0.cancel(id: id) }?.resume(throwing: CancellationError())
    }
  }

  /// Moves the clock on and wakes, earliest first, whoever slept until then.
  public func advance(by duration: Duration) {
    for sleeper in watched.update({ $0.advance(to: $0.now.advanced(by: duration)) }) { sleeper.resume() }
  }

  /// Moves the clock on to an instant; does nothing when it is past it.
  public func advance(to instant: MonotonicInstant) {
    for sleeper in watched.update({ $0.advance(to: instant) }) { sleeper.resume() }
  }

  /// Moves the clock on to the instant the next sleeper waits for; answers whether there was one.
  @discardableResult
  public func advanceToNextWake() -> Bool {
    let woken = watched.update { state in state.nextWake.map { state.advance(to: $0) } }
    for sleeper in woken ?? [] { sleeper.resume() }
    return woken != nil
  }

  /// Waits until at least `count` tasks sleep, so that moving the clock reaches them.
  ///
  /// - Throws: `CancellationError` when the waiting task is cancelled.
  public func waitForSleepers(_ count: Int) async throws {
    try await watched.first { $0.count >= count ? () : nil }
  }
}

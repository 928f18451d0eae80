public import ApusCore
import ApusWaiting

/// A clock for virtual time, which stands still until a test advances it.
///
/// ```swift
/// let clock = ManualClock()
/// var settings = ClientSettings()
/// settings.runtime.clock = clock
/// // … a call sleeps until its deadline …
/// try await clock.waitForSleepers(1)
/// clock.advance(by: .seconds(30))
/// ```
public final class ManualClock: MonotonicClock {
  private typealias Sleeper = CheckedContinuation<Void, any Error>
  private typealias State = ManualClockState<CheckedContinuation<Void, any Error>>

  private let monitor: Monitor<State>

  /// Creates a clock at `start`. Default: zero.
  public init(at start: MonotonicInstant = MonotonicInstant(sinceStart: .zero)) {
    monitor = Monitor(State(now: start))
  }

  /// The current instant: the one the clock was last advanced to.
  public var now: MonotonicInstant { monitor.state.now }

  /// The number of sleeping tasks.
  public var sleepers: Int { monitor.state.count }

  /// The instant at which the next task wakes, or `nil` if none sleeps.
  public var nextWake: MonotonicInstant? { monitor.state.nextWake }

  /// Sleeps until the clock is advanced to `instant` or later. Returns immediately if it already has been.
  ///
  /// - Throws: `CancellationError` if the task is cancelled.
  public func sleep(until instant: MonotonicInstant) async throws {
    let id = monitor.update { $0.newID() }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (sleeper: Sleeper) in
        let admission = monitor.update { state -> State.Admission in
          // Checked under the lock: an earlier cancellation is seen here, a later one finds the sleeper.
          Task.isCancelled ? .cancelled : state.sleep(sleeper, until: instant, id: id)
        }
        switch admission {
        case .sleeps: break
        case .passed: sleeper.resume()
        case .cancelled: sleeper.resume(throwing: CancellationError())
        }
      }
    } onCancel: {
      monitor.update { $0.cancel(id: id) }?.resume(throwing: CancellationError())
    }
  }

  /// Advances the clock and wakes the tasks that slept until then, earliest first.
  public func advance(by duration: Duration) {
    for sleeper in monitor.update({ $0.advance(to: $0.now.advanced(by: duration)) }) { sleeper.resume() }
  }

  /// Advances the clock to an instant and wakes the tasks that slept until then. Does nothing if the clock is later.
  public func advance(to instant: MonotonicInstant) {
    for sleeper in monitor.update({ $0.advance(to: instant) }) { sleeper.resume() }
  }

  /// Advances the clock to the next wake-up time. Returns whether a task was sleeping.
  @discardableResult
  public func advanceToNextWake() -> Bool {
    let woken = monitor.update { state in state.nextWake.map { state.advance(to: $0) } }
    for sleeper in woken ?? [] { sleeper.resume() }
    return woken != nil
  }

  /// Waits until at least `count` tasks are sleeping.
  ///
  /// - Throws: `CancellationError` if the task is cancelled.
  public func waitForSleepers(_ count: Int) async throws {
    try await monitor.first { $0.count >= count ? () : nil }
  }
}

/// The pending sleepers, ordered by wake-up time. A pure state machine: `advance` returns the sleepers to resume.
struct ManualClockState<Sleeper: Sendable>: Sendable {
  enum Admission: Sendable {
    case sleeps
    case passed
    case cancelled
  }

  private struct Entry: Sendable {
    let id: UInt64
    let instant: MonotonicInstant
    let sleeper: Sleeper
  }

  private(set) var now: MonotonicInstant
  /// Earliest first; sleepers with the same instant in order of arrival.
  private var entries: [Entry] = []
  private var lastID: UInt64 = 0

  init(now: MonotonicInstant) {
    self.now = now
  }

  var count: Int { entries.count }
  var nextWake: MonotonicInstant? { entries.first?.instant }

  mutating func newID() -> UInt64 {
    lastID += 1
    return lastID
  }

  /// Adds a sleeper, unless the instant has passed.
  mutating func sleep(_ sleeper: Sleeper, until instant: MonotonicInstant, id: UInt64) -> Admission {
    guard instant > now else { return .passed }
    let index = entries.firstIndex { $0.instant > instant } ?? entries.count
    entries.insert(Entry(id: id, instant: instant, sleeper: sleeper), at: index)
    return .sleeps
  }

  /// Removes a cancelled sleeper and returns it, or `nil` if it was not sleeping.
  mutating func cancel(id: UInt64) -> Sleeper? {
    entries.firstIndex { $0.id == id }.map { entries.remove(at: $0).sleeper }
  }

  /// Advances the time and returns the sleepers to resume, earliest first.
  mutating func advance(to instant: MonotonicInstant) -> [Sleeper] {
    guard instant > now else { return [] }
    now = instant
    let woken = entries.prefix { $0.instant <= instant }.map(\.sleeper)
    entries.removeFirst(woken.count)
    return woken
  }
}

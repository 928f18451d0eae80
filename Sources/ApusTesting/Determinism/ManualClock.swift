public import ApusCore
import ApusWaiting
import Synchronization

/// A clock for virtual time, in which a minute passes immediately.
///
/// By default the clock advances automatically: as soon as all work of its clients waits, it jumps to the next wake-up
/// time. A test of retries simply awaits the call:
///
/// ```swift
/// let clock = ManualClock()
/// let api = Client(baseURL: "https://example.test", transport: stub) { $0.clock = clock }
/// let user = try await api.send(.user(7))      // retried after seconds that take no time
/// ```
///
/// The clock advances only if a call or a task sleeps on it: for a retry, a rate limit, a reply delayed by
/// ``StubReply/after(_:)`` or ``StubReply/stalled``. A timeout alone does not advance the clock. The clock does not
/// advance while a client runs, or while an exchange in flight waits for something else, such as a `Gate`. The clock
/// cannot detect a client's work elsewhere, such as `Task.sleep`, `Task.detached` or the main actor.
///
/// A clock in ``Mode/manual`` advances only when the test advances it:
///
/// ```swift
/// let clock = ManualClock(.manual)
/// // … a call sleeps until its deadline …
/// try await clock.waitForSleepers(1)
/// clock.advance(by: .seconds(30))
/// ```
public final class ManualClock: MonotonicClock {
  /// The mode in which a clock advances.
  public enum Mode: Sendable, Hashable {
    /// The clock advances automatically, as soon as all work of its clients waits, and by ``ManualClock/advance(by:)``.
    case automatic
    /// The clock advances only by ``ManualClock/advance(by:)``.
    case manual
  }

  fileprivate typealias Sleeper = CheckedContinuation<Void, any Error>
  fileprivate typealias State = ManualClockState<CheckedContinuation<Void, any Error>>

  /// The numbers of the surrounding work during which a clock does not advance.
  @TaskLocal private static var surroundings: [UInt64] = []
  private static let lastNumber = Atomic<UInt64>(0)

  private let timeline: ManualTimeline
  private let executor: CountingExecutor?

  /// Creates a clock at zero. Default: it advances automatically.
  public convenience init(_ mode: Mode = .automatic) {
    self.init(mode, at: MonotonicInstant(sinceStart: .zero))
  }

  /// Creates a clock at `start`.
  package init(_ mode: Mode, at start: MonotonicInstant) {
    timeline = ManualTimeline(State(now: start, isAutomatic: mode == .automatic))
    executor = mode == .automatic ? CountingExecutor(timeline) : nil
  }

  /// The current instant.
  public var now: MonotonicInstant { timeline.state.now }

  /// The number of sleeping tasks, timeouts included.
  package var sleepers: Int { timeline.state.count }

  /// The instant at which the next task wakes, or `nil` if no task sleeps.
  package var nextWake: MonotonicInstant? { timeline.state.nextWake }

  /// Sleeps until the clock has reached `instant`. Returns immediately if the instant has passed.
  ///
  /// - Throws: `CancellationError` if the task is cancelled.
  public func sleep(until instant: MonotonicInstant) async throws {
    try await sleep(until: instant, isTimeout: false)
  }

  private func sleep(until instant: MonotonicInstant, isTimeout: Bool) async throws {
    let id = timeline.update { $0.newID() }
    let surroundings = isTimeout ? [] : Self.surroundings
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (sleeper: Sleeper) in
        let admission = timeline.update { state -> State.Admission in
          // Checked under the lock: an earlier cancellation is detected here, a later cancellation finds the sleeper.
          if Task.isCancelled { return .cancelled }
          return state.sleep(
            sleeper, until: instant, id: id, wait: isTimeout ? .timeout : .delay(within: surroundings))
        }
        switch admission {
        case .sleeps: timeline.advanceWhileIdle()
        case .passed: sleeper.resume()
        case .cancelled: sleeper.resume(throwing: CancellationError())
        }
      }
    } onCancel: {
      timeline.wake(throwing: CancellationError()) { $0.cancel(id: id).map { [$0] } ?? [] }
      timeline.advanceWhileIdle()
    }
  }

  /// Advances the clock and wakes the tasks that slept until then, earliest first.
  public func advance(by duration: Duration) {
    timeline.wake { $0.advance(to: $0.now.advanced(by: duration)) }
    timeline.advanceWhileIdle()
  }

  /// Advances the clock to an instant and wakes the tasks that slept until then. Does nothing if the instant has
  /// passed.
  package func advance(to instant: MonotonicInstant) {
    timeline.wake { $0.advance(to: instant) }
    timeline.advanceWhileIdle()
  }

  /// Advances the clock to the next wake-up time. Returns whether a task was sleeping.
  @discardableResult
  package func advanceToNextWake() -> Bool {
    defer { timeline.advanceWhileIdle() }
    return timeline.wake { $0.advanceToNextWake() } > 0
  }

  /// Waits until at least `count` tasks are sleeping, timeouts included. Intended for a clock in ``Mode/manual``.
  ///
  /// - Throws: `CancellationError` if the task is cancelled.
  public func waitForSleepers(_ count: Int) async throws {
    try await timeline.waitForSleepers(count)
  }
}

extension ManualClock: SelfAdvancingClock {
  package var observingExecutor: (any TaskExecutor)? { executor }

  package func sleepForTimeout(until instant: MonotonicInstant) async throws {
    try await sleep(until: instant, isTimeout: true)
  }

  package func hold() {
    timeline.update { $0.jobs += 1 }
  }

  package func release() {
    timeline.jobEnded()
  }

  package func standStill<Output>(during work: () async throws -> Output) async throws -> Output {
    let number = Self.lastNumber.add(1, ordering: .relaxed).newValue
    timeline.update { $0.begin(number) }
    defer {
      timeline.update { $0.end(number) }
      timeline.advanceWhileIdle()
    }
    return try await Self.$surroundings.withValue(Self.surroundings + [number]) { try await work() }
  }
}

/// The state of a clock, and the resumption of its sleepers.
private final class ManualTimeline: Sendable {
  private let monitor: Monitor<ManualClock.State>

  init(_ state: ManualClock.State) {
    monitor = Monitor(state)
  }

  var state: ManualClock.State { monitor.state }

  @discardableResult
  func update<Result: Sendable>(_ change: (inout ManualClock.State) -> Result) -> Result {
    monitor.update(change)
  }

  /// Resumes the sleepers that a change returns, and returns their number. The caller must then call
  /// `advanceWhileIdle()`, because the last job may have ended meanwhile without advancing the clock.
  @discardableResult
  func wake(
    throwing error: (any Error)? = nil, _ change: (inout ManualClock.State) -> [ManualClock.Sleeper]
  ) -> Int {
    // Treated as a job, so that the clock does not advance before the sleepers are resumed.
    let woken = monitor.update { state in
      state.jobs += 1
      return change(&state)
    }
    for sleeper in woken {
      if let error { sleeper.resume(throwing: error) } else { sleeper.resume() }
    }
    monitor.update { $0.jobs -= 1 }
    return woken.count
  }

  /// Advances the clock to the next wake-up time, repeatedly while all work waits.
  func advanceWhileIdle() {
    while monitor.read({ $0.isIdle() }) {
      wake { $0.isIdle(besides: 1) ? $0.advanceToNextWake() : [] }
    }
  }

  func jobEnded() {
    // The job ends and the clock advances in one update, so that a test that waits for the end of all jobs finds the
    // clock advanced.
    wake { state in
      state.jobs -= 1
      return state.isIdle(besides: 1) ? state.advanceToNextWake() : []
    }
    advanceWhileIdle()
  }

  func waitForSleepers(_ count: Int) async throws {
    try await monitor.first { $0.count >= count && $0.jobs == 0 ? () : nil }
  }
}

/// The executor of the clients of a clock. Counts their jobs, and runs each on the global pool.
private final class CountingExecutor: TaskExecutor {
  private let timeline: ManualTimeline

  init(_ timeline: ManualTimeline) {
    self.timeline = timeline
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    timeline.update { $0.jobs += 1 }
    Task.detached { [self] in
      job.runSynchronously(on: asUnownedTaskExecutor())
      timeline.jobEnded()
    }
  }
}

/// An executor that counts the jobs of a client's tasks, and holds them until a test runs them.
///
/// ```swift
/// let executor = ManualExecutor()
/// settings.runtime.executor = executor
/// let call = Task(executorPreference: executor) { try await api.send(.users) }
/// executor.run(jobs: 2)      // two steps of the call
/// api.calls.cancelAll()
/// executor.runAll()
/// ```
///
/// A task whose own jobs should be held and counted as well runs on the executor too, as above. A test that is
/// not on the executor may do its part between any two jobs.
public final class ManualExecutor: TaskExecutor {
  /// What happens with a job.
  public enum Mode: Sendable, Hashable {
    /// It waits until the test runs it.
    case hold
    /// It runs at once on the global pool; jobs are only counted.
    case forward
  }

  private struct State: Sendable {
    var mode: Mode
    var pending: [UnownedJob] = []
    var jobCount = 0
  }

  private let watched: Watched<State>

  /// Makes an executor. Default: it holds every job.
  public init(_ mode: Mode = .hold) {
    watched = Watched(State(mode: mode))
  }

  /// How many jobs there have been.
  public var jobCount: Int { watched.state.jobCount }

  /// How many jobs wait to be run.
  public var pendingCount: Int { watched.state.pending.count }

  /// What happens with the next job. Jobs that wait when it becomes ``Mode/forward`` run at once.
  public var mode: Mode {
    get { watched.state.mode }
    set {
      let released = watched.update { state -> [UnownedJob] in
        state.mode = newValue
        guard newValue == .forward else { return [] }
        defer { state.pending = [] }
        return state.pending
      }
      for job in released { forward(job) }
    }
  }

  /// Takes a job of a task that prefers this executor; for the concurrency runtime.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let mode = watched.update { state in
      state.jobCount += 1
      if state.mode == .hold { state.pending.append(job) }
      return state.mode
    }
    if mode == .forward { forward(job) }
  }

  /// Runs the job that has waited longest; answers whether there was one.
  ///
  /// It runs on the calling thread until it is done or suspends.
  @discardableResult
  public func runNext() -> Bool {
    run(watched.update { $0.pending.isEmpty ? nil : $0.pending.removeFirst() })
  }

  /// Runs one of the waiting jobs, chosen by `generator`; answers whether there was one.
  ///
  /// With a ``SeededGenerator`` a random interleaving can be repeated.
  @discardableResult
  public func runNext(using generator: inout some RandomNumberGenerator) -> Bool {
    let number = generator.next()
    return run(
      watched.update { state in
        state.pending.isEmpty ? nil : state.pending.remove(at: Int(number % UInt64(state.pending.count)))
      })
  }

  /// Runs at most so many jobs; answers how many there were.
  @discardableResult
  public func run(jobs count: Int) -> Int {
    var done = 0
    while done < count, runNext() { done += 1 }
    return done
  }

  /// Runs jobs until none waits, those included that come up meanwhile; answers how many there were.
  @discardableResult
  public func runAll() -> Int {
    run(jobs: .max)
  }

  /// Waits until at least `count` jobs are waiting.
  ///
  /// - Throws: `CancellationError` when the waiting task is cancelled.
  public func waitForPending(_ count: Int) async throws {
    try await watched.first { $0.pending.count >= count ? () : nil }
  }

  /// Runs jobs until a task has ended, and gives its result.
  ///
  /// Jobs that come up later, for example when a gate opens, are waited for.
  public func finish<Success: Sendable, Failure: Error>(
    _ task: Task<Success, Failure>
  ) async -> Result<Success, Failure> {
    let hasEnded = Gate()
    let observer = Task {
      let result = await task.result
      hasEnded.open()
      watched.update { _ in }
      return result
    }
    // A task of its own: it goes on when the caller is cancelled, since the jobs have to be run all the same.
    let driver = Task {
      while !hasEnded.isOpen {
        runAll()
        try? await watched.first { $0.pending.isEmpty && !hasEnded.isOpen ? nil : () }
      }
    }
    await driver.value
    return await observer.value
  }

  private func run(_ job: UnownedJob?) -> Bool {
    guard let job else { return false }
    job.runSynchronously(on: asUnownedTaskExecutor())
    return true
  }

  /// Not run in place: whoever enqueues a job may hold a lock that the job needs.
  private func forward(_ job: UnownedJob) {
    Task.detached { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}

import ApusWaiting

/// An executor that counts the jobs of a client's tasks and queues them until a test runs them.
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
/// The jobs of a task that prefers this executor, as above, are counted and queued too. A test outside the executor can
/// act between any two jobs.
public final class ManualExecutor: TaskExecutor {
  /// The handling of jobs.
  package enum Mode: Sendable, Hashable {
    /// Queues the job until the test runs it.
    case hold
    /// Counts the job and runs it immediately on the global pool.
    case forward
  }

  private struct State: Sendable {
    var mode: Mode
    var pending: [UnownedJob] = []
    var jobCount = 0
  }

  private let monitor: Monitor<State>

  /// Creates an executor that queues every job.
  public convenience init() {
    self.init(.hold)
  }

  /// Creates an executor with a mode.
  package init(_ mode: Mode) {
    monitor = Monitor(State(mode: mode))
  }

  /// The number of jobs enqueued so far.
  package var jobCount: Int { monitor.state.jobCount }

  /// The number of queued jobs.
  package var pendingJobCount: Int { monitor.state.pending.count }

  /// The handling of the next jobs. Changing the mode to ``Mode/forward`` runs all queued jobs.
  package var mode: Mode {
    get { monitor.state.mode }
    set {
      let released = monitor.update { state -> [UnownedJob] in
        state.mode = newValue
        guard newValue == .forward else { return [] }
        defer { state.pending = [] }
        return state.pending
      }
      for job in released { forward(job) }
    }
  }

  /// Enqueues a job of a task that prefers this executor. Called by the concurrency runtime.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let mode = monitor.update { state in
      state.jobCount += 1
      if state.mode == .hold { state.pending.append(job) }
      return state.mode
    }
    if mode == .forward { forward(job) }
  }

  /// Runs the oldest queued job. Returns whether there was a job.
  ///
  /// The job runs on the calling thread until it ends or suspends.
  @discardableResult
  package func runNext() -> Bool {
    run(monitor.update { $0.pending.isEmpty ? nil : $0.pending.removeFirst() })
  }

  /// Runs a queued job chosen by `generator`. Returns whether there was a job.
  ///
  /// With a ``SeededGenerator`` a random interleaving can be replayed.
  @discardableResult
  public func runNext(using generator: inout some RandomNumberGenerator) -> Bool {
    let number = generator.next()
    return run(
      monitor.update { state in
        state.pending.isEmpty ? nil : state.pending.remove(at: Int(number % UInt64(state.pending.count)))
      })
  }

  /// Runs up to `count` queued jobs, including jobs that they enqueue. Returns the number of jobs that ran.
  @discardableResult
  public func run(jobs count: Int) -> Int {
    var done = 0
    while done < count, runNext() { done += 1 }
    return done
  }

  /// Runs jobs until the queue is empty, including jobs enqueued meanwhile. Returns the number of jobs that ran.
  @discardableResult
  public func runAll() -> Int {
    run(jobs: .max)
  }

  /// Waits until at least `count` jobs are queued.
  ///
  /// - Throws: `CancellationError` if the task is cancelled.
  package func waitForPendingJobs(_ count: Int) async throws {
    try await monitor.first { $0.pending.count >= count ? () : nil }
  }

  /// Runs jobs until a task has ended, and returns its result.
  ///
  /// Also runs jobs that are enqueued later, for example when a gate opens. Cancelling the caller does not end the
  /// wait.
  public func finish<Success: Sendable, Failure: Error>(
    _ task: Task<Success, Failure>
  ) async -> Result<Success, Failure> {
    let hasEnded = Gate()
    let observer = Task {
      let result = await task.result
      hasEnded.open()
      monitor.update { _ in }
      return result
    }
    // A separate task, because the jobs must be run even if the caller is cancelled.
    let driver = Task {
      while !hasEnded.isOpen {
        runAll()
        try? await monitor.first { $0.pending.isEmpty && !hasEnded.isOpen ? nil : () }
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

  // Jobs are not run inline, because the enqueuing code may hold a lock that the job needs.
  private func forward(_ job: UnownedJob) {
    Task.detached { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}

import Synchronization

/// The progress of a transfer of content (body) in one direction.
public struct TransferProgress: Sendable, Hashable {
  /// The number of bytes transferred so far, and ``total`` at the end.
  ///
  /// When a transfer starts over, the count and the ``fraction`` do not decrease: both remain until more bytes are
  /// transferred than before. If the content then has a different length, for example because the file has changed on
  /// the server, the count and the total remain until the new transfer has reached the same fraction. If the file is
  /// shorter, the count may then decrease.
  public package(set) var completed: Int64
  /// The number of bytes of the whole transfer, or `nil` if it is unknown.
  public package(set) var total: Int64?
  /// The average rate of the last seconds, or `nil` at the start.
  public package(set) var bytesPerSecond: Double?

  package init(completed: Int64, total: Int64? = nil, bytesPerSecond: Double? = nil) {
    (self.completed, self.total, self.bytesPerSecond) = (completed, total, bytesPerSecond)
  }

  /// The completed fraction from 0 to 1, or `nil` if the total is unknown. Exactly 1 at the end.
  public var fraction: Double? {
    total.map { $0 <= completed ? 1 : Double(completed) / Double($0) }
  }

  /// The expected time until the end, or `nil` if the total or the rate is unknown.
  public var remaining: Duration? {
    guard let total, let bytesPerSecond, bytesPerSecond > 0 else { return nil }
    return .seconds(min(Double(max(0, total - completed)) / bytesPerSecond, Self.longestTime))
  }

  /// Returns the progress to report next: `next`, or the current progress if the fraction would decrease.
  package func advanced(to next: TransferProgress) -> TransferProgress {
    var advanced = next
    if total != next.total, let fraction, let nextFraction = next.fraction {
      if nextFraction >= fraction { return next }
    } else if next.completed >= completed || next.fraction == 1 {
      return next
    }
    (advanced.completed, advanced.total) = (completed, total)
    if total == nil, let nextTotal = next.total, nextTotal > completed { advanced.total = nextTotal }
    return advanced
  }

  private static let longestTime: Double = 1e9
}

/// The progress of the transfers of a call as an asynchronous sequence.
///
/// <!-- sample: progress -->
/// ```swift
/// let progress = ProgressReporter()
/// async let upload: Void = api.send(.put("/film", content: .file("/films/ran.mp4")).uploadProgress(progress))
/// for await step in progress {
///   print(step.fraction ?? 0, step.remaining ?? .zero)
/// }
/// try await upload
/// ```
///
/// The sequence ends with the call. A loop that is slower than the transfer receives only the latest progress, so
/// nothing is buffered. Several loops may read one reporter. Use one reporter for one direction of one call.
public final class ProgressReporter: AsyncSequence, Sendable {
  private let state = Mutex(ProgressState())

  /// Creates a reporter without progress.
  public init() {}

  /// The latest progress.
  public var current: TransferProgress { state.withLock { $0.current } }

  /// Reports progress. Ignored after the end.
  ///
  /// - Parameters:
  ///   - completed: the number of bytes transferred so far.
  ///   - total: the number of bytes of the whole transfer, or `nil` if it is unknown.
  ///   - instant: the current instant of the client's clock.
  package func report(_ completed: Int64, of total: Int64?, at instant: MonotonicInstant) {
    update { $0.report(completed, of: total, at: instant) }
  }

  /// Ends the sequence.
  ///
  /// - Parameter isComplete: whether the transfer succeeded. The last progress is then complete.
  package func finish(isComplete: Bool) {
    update { $0.finish(isComplete: isComplete) }
  }

  /// Calls a closure with the latest progress, if there is any, and then with each change. The closure is called on the
  /// thread that reports the change, and must not block.
  package func observe(_ observer: @escaping @Sendable (TransferProgress) -> Void) {
    if let latest = state.withLock({ $0.observe(observer) }) { observer(latest) }
  }

  private func update(_ change: (inout ProgressState) -> [ProgressState.Waiter]) {
    let (waiters, observers, latest) = state.withLock { state in
      let version = state.version
      let waiters = change(&state)
      return (waiters, state.version == version ? [] : state.observers, state.current)
    }
    for observer in observers { observer(latest) }
    for waiter in waiters { waiter.resume() }
  }

  /// Returns an iterator that begins at the latest progress.
  public func makeAsyncIterator() -> Iterator {
    Iterator(reporter: self)
  }

  /// An iterator over the progress of a transfer.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let reporter: ProgressReporter
    private var seen = 0

    fileprivate init(reporter: ProgressReporter) {
      self.reporter = reporter
    }

    /// Returns the latest progress as soon as it differs from the progress returned before, or `nil` at the end and
    /// when the task is cancelled.
    public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> TransferProgress? {
      while !Task.isCancelled {
        switch reporter.state.withLock({ $0.progress(after: seen) }) {
        case .progress(let progress, let version):
          seen = version
          return progress
        case .finished: return nil
        case .unchanged: await reporter.change(after: seen)
        }
      }
      return nil
    }
  }

  /// Waits until the state is newer than `version`, or the task is cancelled.
  private func change(after version: Int) async {
    let id = state.withLock { $0.nextWaiter() }
    await withTaskCancellationHandler {
      await withCheckedContinuation { waiter in
        // The task is cancelled before the handler below runs, so the cancellation is detected either here or by the
        // handler.
        let isOver = state.withLock { Task.isCancelled || !$0.wait(waiter, id, after: version) }
        if isOver { waiter.resume() }
      }
    } onCancel: {
      state.withLock { $0.cancel(id) }?.resume()
    }
  }
}

/// The state of a reporter. Pure; the reporter resumes the waiters that it returns.
struct ProgressState {
  typealias Waiter = CheckedContinuation<Void, Never>
  typealias Observer = @Sendable (TransferProgress) -> Void

  enum Reading: Equatable {
    case progress(TransferProgress, version: Int)
    case unchanged
    case finished
  }

  private(set) var current = TransferProgress(completed: 0)
  private var rate = TransferRate()
  /// Grows with every change. 0 before the first report.
  private(set) var version = 0
  private(set) var observers: [Observer] = []
  private var isFinished = false
  private var waiters: [Int: Waiter] = [:]
  private var lastWaiter = 0

  mutating func report(_ completed: Int64, of total: Int64?, at instant: MonotonicInstant) -> [Waiter] {
    guard !isFinished else { return [] }
    let progress = current.advanced(
      to: TransferProgress(
        completed: completed, total: total.map { Swift.max($0, completed) },
        bytesPerSecond: rate.bytesPerSecond(after: completed, at: instant)))
    guard progress != current || version == 0 else { return [] }
    return change(to: progress)
  }

  mutating func finish(isComplete: Bool) -> [Waiter] {
    guard !isFinished else { return [] }
    isFinished = true
    guard isComplete, current.fraction != 1 || version == 0 else { return takeWaiters() }
    var last = current
    last.total = current.completed
    return change(to: last)
  }

  /// Returns the progress that is newer than a version.
  func progress(after seen: Int) -> Reading {
    if version > seen { return .progress(current, version: version) }
    return isFinished ? .finished : .unchanged
  }

  /// Adds an observer. Returns the progress that the observer has missed, or `nil` if there was none.
  mutating func observe(_ observer: @escaping Observer) -> TransferProgress? {
    if !isFinished { observers.append(observer) }
    return version > 0 ? current : nil
  }

  mutating func nextWaiter() -> Int {
    lastWaiter += 1
    return lastWaiter
  }

  /// Adds a waiter. Returns whether the caller must wait.
  mutating func wait(_ waiter: Waiter, _ id: Int, after seen: Int) -> Bool {
    guard progress(after: seen) == .unchanged else { return false }
    waiters[id] = waiter
    return true
  }

  mutating func cancel(_ id: Int) -> Waiter? {
    waiters.removeValue(forKey: id)
  }

  private mutating func change(to progress: TransferProgress) -> [Waiter] {
    current = progress
    version += 1
    return takeWaiters()
  }

  private mutating func takeWaiters() -> [Waiter] {
    defer { waiters = [:] }
    return Array(waiters.values)
  }
}

/// The rate of a transfer, averaged over the last five seconds.
private struct TransferRate {
  private struct Sample {
    let bytes: Int64
    let instant: MonotonicInstant
  }

  private static let interval = Duration.milliseconds(250)
  private static let sampleCount = 20

  /// The samples, oldest first, at least an interval apart.
  private var samples: [Sample] = []

  mutating func bytesPerSecond(after bytes: Int64, at instant: MonotonicInstant) -> Double? {
    // A retry starts over.
    if let last = samples.last, bytes < last.bytes { samples = [] }
    defer {
      if samples.last.map({ $0.instant.duration(to: instant) >= Self.interval }) ?? true {
        if samples.count == Self.sampleCount { samples.removeFirst() }
        samples.append(Sample(bytes: bytes, instant: instant))
      }
    }
    guard let first = samples.first else { return nil }
    let time = first.instant.duration(to: instant)
    guard time >= Self.interval else { return nil }
    return Double(bytes - first.bytes) / (time / .seconds(1))
  }
}

public import Observation

/// An observable object that loads a value for a user interface and publishes the phase to show.
///
/// A loader is isolated to the main actor. A newer load supersedes the running load, whose result is never shown and
/// never stops the spinner of the newer load. The last good value is preserved while a newer value is being loaded, and
/// after a failed load.
///
/// <!-- sample: loader main -->
/// ```swift
/// let users = Loader(api, .users)
/// await users.load()               // what `.task { }` and `.refreshable { }` of a view do
/// users.reload()                   // what a button does
/// switch users.phase {
/// case .idle: break
/// case .loading: print("…")
/// case .loaded(let users): print(users.count)
/// case .refreshing(let users): print(users.count, "…")
/// case .failed(let error, let last): print(error.message, last?.count ?? 0)
/// }
/// ```
///
/// Views that read ``phase``, or a property derived from it, are updated when it changes. A loader that is deallocated
/// cancels its load. For a preview, ``init(showing:)`` creates a loader in any phase:
///
/// <!-- sample: loader-preview main -->
/// ```swift
/// let failed = Loader<[User]>(showing: .failed(CallError(.offline), last: nil))
/// print(failed.error?.message ?? "")
/// ```
@MainActor
@Observable
public class Loader<Value: Sendable> {
  private var state: LoaderState<Value>
  @ObservationIgnored private var task: Task<Void, Never>?
  /// The work of a load, or `nil` if the loader only shows a phase or has no query.
  @ObservationIgnored var work: (@MainActor () async throws -> Value)?
  private let debounce: Duration
  private let clock: any MonotonicClock

  /// Creates a loader with a function that returns the value, such as a service's method or several calls.
  ///
  /// - Parameters:
  ///   - initial: the value to show until the first load has ended, for example a stored value. Default: `nil`.
  ///   - debounce: a delay before each load, during which a newer load supersedes it, for a search while the user
  ///     types. During the delay the phase is `loading` or `refreshing`. Default: zero.
  ///   - clock: the clock of the delay. Default: the system clock.
  ///   - work: loads the value. It is called on the main actor, so it may read the state of the screen. Its task is
  ///     cancelled when the load is cancelled or superseded. An error other than ``CallError`` is converted, see
  ///     ``CallError/init(converting:)``.
  public convenience init(
    initial: Value? = nil, debounce: Duration = .zero, clock: any MonotonicClock = SystemClock(),
    _ work: @escaping @MainActor () async throws -> Value
  ) {
    self.init(initial.map { .loaded($0) } ?? .idle, debounce: debounce, clock: clock, work: work)
  }

  /// Creates a loader of an endpoint's value.
  ///
  /// - Parameters:
  ///   - client: the client that sends the endpoint.
  ///   - endpoint: the endpoint.
  ///   - initial: the value to show until the first load has ended. Default: `nil`.
  ///   - debounce: a delay before each load, during which a newer load supersedes it. Default: zero.
  public convenience init(
    _ client: Client, _ endpoint: some Endpoint<Value>, initial: Value? = nil, debounce: Duration = .zero
  ) {
    self.init(initial: initial, debounce: debounce) { try await client.send(endpoint) }
  }

  /// Creates a loader of a request's value. With this overload, static members of `Request` can be written after a dot.
  public convenience init(
    _ client: Client, _ request: Request<Value>, initial: Value? = nil, debounce: Duration = .zero
  ) {
    self.init(initial: initial, debounce: debounce) { try await client.send(request) }
  }

  /// Creates a loader that shows a phase and loads nothing, for previews and tests of views.
  ///
  /// Its loads end immediately and change nothing; ``show(_:)`` shows another phase.
  public convenience init(showing phase: LoaderPhase<Value>) {
    self.init(phase, debounce: .zero, clock: SystemClock(), work: nil)
  }

  init(
    _ phase: LoaderPhase<Value>, debounce: Duration, clock: any MonotonicClock,
    work: (@MainActor () async throws -> Value)?
  ) {
    state = LoaderState(phase)
    (self.debounce, self.clock, self.work) = (debounce, clock, work)
  }

  /// The phase that a view shows.
  public var phase: LoaderPhase<Value> { state.phase }
  /// The last good value; `nil`: there is none.
  public var value: Value? { state.phase.value }
  /// The error of the last load, if it failed; `nil` as soon as the next load begins. Its `message` is for people.
  public var error: CallError? { state.phase.error }
  /// Whether a load is running, so that a spinner should be shown.
  public var isLoading: Bool { state.phase.isLoading }

  /// Starts a load, which supersedes the running load, and returns immediately.
  ///
  /// A ``SearchLoader`` loads its last query again, and does nothing if it has none.
  ///
  /// - Returns: the task of the load; cancelling it cancels the load.
  @discardableResult
  public func reload() -> Task<Void, Never> {
    guard let work else { return Task {} }
    let number = state.begin()
    // Captured weakly, so that deallocating the loader cancels its load.
    let load = Task { [weak self, debounce, clock] in
      let outcome: Result<Value, CallError>
      do {
        if debounce > .zero { try await clock.sleep(until: clock.now.advanced(by: debounce)) }
        outcome = .success(try await work())
      } catch {
        outcome = .failure(CallError(converting: error))
      }
      self?.end(number, outcome)
    }
    replaceTask(by: load)
    return load
  }

  /// Starts a load, which supersedes the running load, and waits until it has ended or been superseded.
  ///
  /// - Cancellation: cancelling the calling task cancels the load, as when a view disappears. If the task is already
  ///   cancelled, no load is started and the running load continues.
  public func load() async {
    guard !Task.isCancelled else { return }
    let load = reload()
    await withTaskCancellationHandler {
      await load.value
    } onCancel: {
      load.cancel()
    }
  }

  /// Cancels the running load and immediately restores the previous phase. Does nothing if no load is running.
  public func cancel() {
    guard state.running != nil else { return }
    state.cancel()
    replaceTask(by: nil)
  }

  /// Cancels the running load and discards the value, for example when the user signs out. A ``SearchLoader`` also
  /// discards its query.
  public func reset() {
    discardQuery()
    state.reset()
    replaceTask(by: nil)
  }

  func discardQuery() {}

  /// Shows a phase and cancels the running load, for previews and tests of views.
  public func show(_ phase: LoaderPhase<Value>) {
    state.show(phase)
    replaceTask(by: nil)
  }

  /// Replaces the task and cancels the previous task, after the state has changed.
  ///
  /// If an observer of that change has started a load meanwhile, that load's task is the previous task. A load started
  /// by a cancellation handler is not affected, because the cancellation is the last step.
  private func replaceTask(by load: Task<Void, Never>?) {
    let previous = task
    task = load
    previous?.cancel()
  }

  private func end(_ number: Int, _ outcome: Result<Value, CallError>) {
    // Checked before the mutation, because observers are notified of every mutation of the state, even without a
    // change.
    guard state.running == number else { return }
    task = nil
    state.end(number, outcome)
  }

  deinit {
    task?.cancel()
  }
}

public import Observation

/// Loads a value for a user interface, and says what to show meanwhile.
///
/// Lives on the main actor. A newer load takes the place of the one that runs, whose outcome never shows and never
/// stops the newer one's spinner; the last good value stays while a newer one is on its way, and when that fails.
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
/// case .failed(let error, let last): print(error.sentence, last?.count ?? 0)
/// }
/// ```
///
/// Views that read ``phase``, or anything made of it, are drawn again when it changes. A loader that nobody holds any
/// more cancels its load. For a preview, ``init(showing:)`` makes a loader of a phase:
///
/// <!-- sample: loader-preview main -->
/// ```swift
/// let failed = Loader<[User]>(showing: .failed(CallError(.offline), last: nil))
/// print(failed.error?.sentence ?? "")
/// ```
@MainActor
@Observable
public final class Loader<Value: Sendable> {
  private var state: LoaderState<Value>
  @ObservationIgnored private var task: Task<Void, Never>?
  /// `nil`: it only shows a phase.
  private let work: (@MainActor () async throws -> Value)?
  private let debounce: Duration
  private let clock: any MonotonicClock

  /// Makes a loader of whatever gives the value: a service's method, or several calls.
  ///
  /// - Parameters:
  ///   - initial: a value to show until the first load has ended, for example a stored one. Default: `nil`.
  ///   - debounce: a pause before each load, in which a newer load takes its place: for a search that follows what a
  ///     person types. The loader shows that it loads meanwhile. Default: zero.
  ///   - clock: times the pause. Default: the system's.
  ///   - work: called on the main actor for each load, so that it may read what the screen shows. Its task is
  ///     cancelled when the load is cancelled or a newer one begins. An error that is no ``CallError`` is converted,
  ///     see ``CallError/init(converting:)``.
  public init(
    initial: Value? = nil, debounce: Duration = .zero, clock: any MonotonicClock = SystemClock(),
    _ work: @escaping @MainActor () async throws -> Value
  ) {
    state = LoaderState(initial.map { .loaded($0) } ?? .idle)
    (self.debounce, self.clock, self.work) = (debounce, clock, work)
  }

  /// Makes a loader of an endpoint.
  ///
  /// - Parameters:
  ///   - client: sends the endpoint.
  ///   - endpoint: any endpoint.
  ///   - initial: a value to show until the first load has ended. Default: `nil`.
  ///   - debounce: a pause before each load, in which a newer load takes its place. Default: zero.
  public convenience init(
    _ client: Client, _ endpoint: some Endpoint<Value>, initial: Value? = nil, debounce: Duration = .zero
  ) {
    self.init(initial: initial, debounce: debounce) { try await client.send(endpoint) }
  }

  /// Makes a loader of a request; finds static members of `Request` after the dot.
  public convenience init(
    _ client: Client, _ request: Request<Value>, initial: Value? = nil, debounce: Duration = .zero
  ) {
    self.init(initial: initial, debounce: debounce) { try await client.send(request) }
  }

  /// Makes a loader that shows a phase and loads nothing, for previews and tests of views.
  ///
  /// Its loads end at once and change nothing; ``show(_:)`` goes on to another phase.
  public init(showing phase: LoaderPhase<Value>) {
    state = LoaderState(phase)
    (debounce, clock, work) = (.zero, SystemClock(), nil)
  }

  /// What to show.
  public var phase: LoaderPhase<Value> { state.phase }
  /// The last good value.
  public var value: Value? { state.phase.value }
  /// Why the last load failed; `nil` from the moment the next one begins. Its `sentence` is for people.
  public var error: CallError? { state.phase.error }
  /// Whether a load is on its way.
  public var isLoading: Bool { state.phase.isLoading }

  /// Starts a load, in place of the one that runs, and returns at once.
  ///
  /// - Returns: a task that ends with this load; cancelling it cancels this load.
  @discardableResult
  public func reload() -> Task<Void, Never> {
    guard let work else { return Task {} }
    let number = state.begin()
    // Not held by its own load: a loader that goes away ends its load with it.
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

  /// Starts a load, in place of the one that runs, and waits until it has ended or a newer one has taken its place.
  ///
  /// - Cancellation: cancelling the calling task cancels the load, as when a view disappears. In a task that is
  ///   cancelled already none is started, and the one that runs goes on.
  public func load() async {
    guard !Task.isCancelled else { return }
    let load = reload()
    await withTaskCancellationHandler {
      await load.value
    } onCancel: {
      load.cancel()
    }
  }

  /// Cancels the load that runs and shows again what was there before it, at once. Does nothing when none runs.
  public func cancel() {
    guard state.running != nil else { return }
    state.cancel()
    replaceTask(by: nil)
  }

  /// Cancels the load that runs and forgets the value, as when a person signs out.
  public func reset() {
    state.reset()
    replaceTask(by: nil)
  }

  /// Shows a phase in place of what was there, and cancels the load that runs: for previews and tests of views.
  public func show(_ phase: LoaderPhase<Value>) {
    state.show(phase)
    replaceTask(by: nil)
  }

  /// Cancels the task that runs, once the state has changed.
  ///
  /// Whoever is told of that change may have started a load meanwhile, which is the one that ends here. Whoever is told
  /// that a task is cancelled may start one, too, which stays: cancelling comes last.
  private func replaceTask(by load: Task<Void, Never>?) {
    let previous = task
    task = load
    previous?.cancel()
  }

  private func end(_ number: Int, _ outcome: Result<Value, CallError>) {
    // Asked first: observers are told of every change of the state, also of one that changes nothing.
    guard state.running == number else { return }
    task = nil
    state.end(number, outcome)
  }

  deinit {
    task?.cancel()
  }
}

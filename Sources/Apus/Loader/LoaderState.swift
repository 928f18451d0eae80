/// The running load and the phase of a loader. A pure state machine.
///
/// Loads are numbered, and only the newest load changes the phase. A cancelled load restores the previous phase.
struct LoaderState<Value: Sendable>: Sendable {
  /// The phase while no load is running; `loading` or `refreshing` only if set by ``show(_:)``.
  private var phaseBetweenLoads: LoaderPhase<Value>
  /// The number of the running load; `nil`: there is none.
  private(set) var running: Int?
  private var lastNumber = 0

  init(_ phase: LoaderPhase<Value> = .idle) {
    phaseBetweenLoads = phase
  }

  var phase: LoaderPhase<Value> {
    guard running != nil else { return phaseBetweenLoads }
    guard let value = phaseBetweenLoads.value else { return .loading }
    return .refreshing(value)
  }

  /// Begins a load, which supersedes the running load. Returns the number of the new load.
  mutating func begin() -> Int {
    lastNumber += 1
    running = lastNumber
    switch phaseBetweenLoads {
    case .loading: phaseBetweenLoads = .idle
    case .refreshing(let value): phaseBetweenLoads = .loaded(value)
    case .idle, .loaded, .failed: break
    }
    return lastNumber
  }

  /// Ends a load. A superseded or cancelled load changes nothing.
  mutating func end(_ number: Int, _ outcome: Result<Value, CallError>) {
    guard running == number else { return }
    running = nil
    switch outcome {
    case .success(let value): phaseBetweenLoads = .loaded(value)
    // If a call was cancelled or superseded elsewhere, no error is shown.
    case .failure(let error) where error.isCancellation: break
    case .failure(let error): phaseBetweenLoads = .failed(error, last: phaseBetweenLoads.value)
    }
  }

  /// Cancels the running load.
  mutating func cancel() {
    running = nil
  }

  /// Shows a phase and cancels the running load.
  mutating func show(_ phase: LoaderPhase<Value>) {
    running = nil
    phaseBetweenLoads = phase
  }

  /// Returns to `idle` and cancels the running load. The numbering continues, so that no earlier load can change the
  /// phase.
  mutating func reset() {
    running = nil
    phaseBetweenLoads = .idle
  }
}

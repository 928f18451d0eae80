/// Which of a loader's loads counts, and what it shows: pure.
///
/// Loads are numbered. Only the newest may change anything; one that ends without an outcome of its own, because it was
/// cancelled, leaves everything as it was before it began.
struct LoaderState<Value: Sendable>: Sendable {
  /// What is shown while nothing loads: `loading` and `refreshing` only where ``show(_:)`` said so.
  private var settled: LoaderPhase<Value>
  /// The number of the load that counts.
  private(set) var running: Int?
  private var lastNumber = 0

  init(_ phase: LoaderPhase<Value> = .idle) {
    settled = phase
  }

  var phase: LoaderPhase<Value> {
    guard running != nil else { return settled }
    guard let value = settled.value else { return .loading }
    return .refreshing(value)
  }

  /// A load begins and takes the place of the one that runs. Answers its number.
  mutating func begin() -> Int {
    lastNumber += 1
    running = lastNumber
    switch settled {
    case .loading: settled = .idle
    case .refreshing(let value): settled = .loaded(value)
    case .idle, .loaded, .failed: break
    }
    return lastNumber
  }

  /// A load has ended. One that no longer counts changes nothing.
  mutating func end(_ number: Int, _ outcome: Result<Value, CallError>) {
    guard running == number else { return }
    running = nil
    switch outcome {
    case .success(let value): settled = .loaded(value)
    // Nobody needs to read that a load was cancelled or superseded elsewhere.
    case .failure(let error) where error.isCancellation: break
    case .failure(let error): settled = .failed(error, last: settled.value)
    }
  }

  /// The running load no longer counts.
  mutating func cancel() {
    running = nil
  }

  /// This is shown, and the running load no longer counts.
  mutating func show(_ phase: LoaderPhase<Value>) {
    running = nil
    settled = phase
  }

  /// As at the beginning, but numbers go on, so that no earlier load counts.
  mutating func reset() {
    running = nil
    settled = .idle
  }
}

/// What a ``Loader`` shows: where its load is, with the last good value wherever there is one.
public enum LoaderPhase<Value: Sendable>: Sendable {
  /// Nothing has been loaded, nothing is loading.
  case idle
  /// The first value is on its way.
  case loading
  /// This value is there, and nothing is loading.
  case loaded(Value)
  /// This value is there, and a newer one is on its way.
  case refreshing(Value)
  /// The last load failed. The last good value is kept, where there is one.
  case failed(CallError, last: Value?)

  /// The last good value.
  public var value: Value? {
    switch self {
    case .idle, .loading: nil
    case .loaded(let value), .refreshing(let value): value
    case .failed(_, let last): last
    }
  }

  /// Why the last load failed; `nil` from the moment the next one begins.
  public var error: CallError? {
    if case .failed(let error, _) = self { return error }
    return nil
  }

  /// Whether a load is on its way: whether the spinner turns.
  public var isLoading: Bool {
    switch self {
    case .loading, .refreshing: true
    case .idle, .loaded, .failed: false
    }
  }
}

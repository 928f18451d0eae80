/// The state of a ``Loader``, with the last good value if there is one.
public enum LoaderPhase<Value: Sendable>: Sendable {
  /// There is no value, and no load is running.
  case idle
  /// There is no value yet, and a load is running.
  case loading
  /// There is a value, and no load is running.
  case loaded(Value)
  /// There is a value, and a newer value is being loaded.
  case refreshing(Value)
  /// The last load failed. `last` is the last good value; `nil`: there is none.
  case failed(CallError, last: Value?)

  var value: Value? {
    switch self {
    case .idle, .loading: nil
    case .loaded(let value), .refreshing(let value): value
    case .failed(_, let last): last
    }
  }

  var error: CallError? {
    if case .failed(let error, _) = self { return error }
    return nil
  }

  var isLoading: Bool {
    switch self {
    case .loading, .refreshing: true
    case .idle, .loaded, .failed: false
    }
  }
}

import ApusCore

/// Marks an error that says there is no network as one that is not tried again: its call is not to wait.
struct OfflineRefusal: Error, CustomStringConvertible {
  /// What the error had in its place, such as the platform's own.
  private let underlying: (any Error)?

  /// Says nothing of what it stands for.
  var description: String { "there is no network" }

  /// The same error, marked if it says that there is no network.
  static func lasting(_ error: any Error) -> any Error {
    guard var error = error as? TransportError, error.kind == .offline else { return error }
    error.underlying = OfflineRefusal(underlying: error.underlying)
    return error
  }

  /// The same error without the mark, as the app is to have it.
  static func unmarked(_ error: TransportError) -> TransportError {
    guard let mark = error.underlying as? OfflineRefusal else { return error }
    var error = error
    error.underlying = mark.underlying
    return error
  }
}

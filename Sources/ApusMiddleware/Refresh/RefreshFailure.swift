import ApusCore

/// What whoever waits for a refresh gets when it fails: the reason, without what a server said in confidence. It is
/// about credentials: the server that the call is for has not failed.
enum RefreshFailure {
  /// The time of a refresh was up.
  static var overdue: any Error {
    TransportError(.timedOut(.waiting), requestState: .notSent, detail: "the refresh took too long").about(.credentials)
  }

  /// The time of an attempt was up while it waited.
  static var attemptOver: any Error {
    TransportError.attemptTimedOut(in: .waiting, requestState: .notSent).about(.credentials)
  }

  /// Credentials are no good, and nobody knows why any more.
  static var unknown: any Error {
    declined("the refresh failed")
  }

  /// An error of the refresh as that of a call that needed it.
  static func shown(_ error: any Error) -> any Error {
    switch error {
    // An accepted answer that could not be read may hold the tokens.
    case let error as CallError where error.code == .decoding || error.code == .malformedResponse:
      let place = error.place.map { " at \($0)" } ?? ""
      return TransportError(
        .malformedResponse, requestState: .notSent, detail: "the answer to the refresh could not be read\(place)"
      ).about(.credentials)
    // What another server answered is no answer to the call.
    case let error as CallError where error.code == .rejected:
      var failure = declined(
        "needed another call, which failed (\(error.code.rawValue): \(error.endpoint))", error)
      failure.retryAfter = error.retryAfter
      return failure
    case is CallError: return error
    case let error as TransportError: return error.about(.credentials)
    // An own type of the app, and a cancellation that was nobody's of those who wait.
    default: return declined("the refresh failed: \(error.loggedReason)", error)
    }
  }

  /// The session is over.
  ///
  /// - Parameter error: what the refresh failed with.
  static func over(_ error: any Error) -> any Error {
    TransportError(.declined, requestState: .notSent, detail: "the session is over", underlying: error)
      .about(.credentials)
  }

  /// There may be other credentials later.
  private static func declined(_ detail: String, _ error: (any Error)? = nil) -> TransportError {
    TransportError(.declined, requestState: .notSent, detail: detail, underlying: error).about(.control)
  }

  /// The same for a call that a server had answered.
  static func answered(_ error: any Error) -> any Error {
    guard var error = error as? TransportError else { return error }
    error.requestState = .answered
    return error
  }
}

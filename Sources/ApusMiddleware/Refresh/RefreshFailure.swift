import ApusCore

/// The errors of calls whose refresh failed. They do not contain what a server said in confidence, and are about the
/// credentials: the server of the call itself has not failed.
enum RefreshFailure {
  /// The refresh took longer than its limit.
  static var overdue: any Error {
    TransportError(.timedOut(.waiting), requestState: .notSent, detail: "the refresh took too long").about(.credentials)
  }

  /// The attempt's limit passed during the refresh.
  static var attemptOver: any Error {
    TransportError.attemptTimedOut(in: .waiting, requestState: .notSent).about(.credentials)
  }

  /// The credentials are unusable for a reason that is no longer known.
  static var unknown: any Error {
    declined("the refresh failed")
  }

  /// The error of a refresh as that of a call that needed it.
  static func shown(_ error: any Error) -> any Error {
    switch error {
    // The content of a successful response may hold the tokens.
    case let error as CallError where error.code == .decoding || error.code == .malformedResponse:
      let place = error.place.map { " at \($0)" } ?? ""
      return TransportError(
        .malformedResponse, requestState: .notSent, detail: "the response to the refresh could not be read\(place)"
      ).about(.credentials)
    // The status of the token endpoint is not that of the call.
    case let error as CallError where error.code == .rejected:
      var failure = declined(
        "needed another call, which failed (\(error.code.rawValue): \(error.endpoint))", error)
      failure.retryAfter = error.retryAfter
      return failure
    case is CallError: return error
    case let error as TransportError: return error.about(.credentials)
    // An error type of the app, or a cancellation that came from none of the waiting calls.
    default: return declined("the refresh failed: \(error.loggedReason)", error)
    }
  }

  /// The error of calls whose session is over.
  ///
  /// - Parameter error: the error of the refresh.
  static func over(_ error: any Error) -> any Error {
    TransportError(.declined, requestState: .notSent, detail: "the session is over", underlying: error)
      .about(.credentials)
  }

  /// A refusal that a later call may not meet.
  private static func declined(_ detail: String, _ error: (any Error)? = nil) -> TransportError {
    TransportError(.declined, requestState: .notSent, detail: detail, underlying: error).about(.control)
  }

  /// The error of a call that a server has answered before.
  static func answered(_ error: any Error) -> any Error {
    guard var error = error as? TransportError else { return error }
    error.requestState = .answered
    return error
  }
}

/// An error that a refresh throws if the credentials can never be refreshed again, and the server said so by other
/// means than 401, 403 or `invalid_grant`.
public struct RefreshRefusal: Error, Sendable, Hashable {
  /// Makes an error.
  public init() {}

  /// Whether only a new sign-in helps (RFC 6749 §5.2): after 401 and 403, and after 400 only with `invalid_grant`,
  /// since it may be about anything in the request.
  static func isLasting(_ error: any Error) -> Bool {
    if error is RefreshRefusal { return true }
    guard let error = error as? CallError else { return false }
    if error.underlying is RefreshRefusal { return true }
    guard error.code == .rejected else { return false }
    switch error.status {
    case 401, 403: return true
    case 400: return error.content.flatMap { try? $0.decode(Refused.self) }?.error == "invalid_grant"
    default: return false
    }
  }

  private struct Refused: Decodable {
    let error: String
  }
}

extension Error {
  /// The error's own text if it promises to hold no secrets, else the name of its type.
  var loggedReason: String {
    (self as? any LoggableError)?.description ?? "\(type(of: self))"
  }
}

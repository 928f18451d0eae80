import ApusCore

/// The errors of calls whose refresh failed. They contain no confidential text of a server, and concern the
/// credentials: the server of the call itself has not failed.
enum RefreshFailure {
  /// The refresh took longer than its limit.
  static var overdue: any Error {
    TransportError(.timeout, in: .waiting, requestState: .notSent, detail: "the refresh took too long").attributed(
      to: .credentials)
  }

  /// The attempt's limit passed during the refresh.
  static var attemptOver: any Error {
    TransportError.attemptTimedOut(in: .waiting, requestState: .notSent).attributed(to: .credentials)
  }

  /// The credentials are unusable for a reason that is no longer known.
  static var unknown: any Error {
    refused("the refresh failed")
  }

  /// The error of a refresh, in the form for a call that needed the refresh.
  static func shown(_ error: any Error) -> any Error {
    switch error {
    // The content of a successful response may contain the tokens.
    case let error as CallError where error.code == .decoding || error.code == .malformedResponse:
      let place = error.codingPath.map { " at \($0)" } ?? ""
      return TransportError(
        .malformedResponse, requestState: .notSent, detail: "the response to the refresh could not be read\(place)"
      ).attributed(to: .credentials)
    // The status of the token endpoint is not that of the call.
    case let error as CallError where error.code == .rejected:
      var failure = refused(
        "needed another call, which failed (\(error.code.rawValue): \(error.endpoint))", error)
      failure.retryAfter = error.retryAfter
      return failure
    case is CallError: return error
    case let error as TransportError: return error.attributed(to: .credentials)
    // An error of the app's own type, or a cancellation that came from none of the waiting calls.
    default: return refused("the refresh failed: \(error.loggedReason)", error)
    }
  }

  /// The error of calls whose session is over.
  ///
  /// - Parameter error: the error of the refresh.
  static func over(_ error: any Error) -> any Error {
    TransportError(.refused, requestState: .notSent, detail: "the session is over", underlying: error)
      .attributed(to: .credentials)
  }

  /// A refusal that may be temporary.
  private static func refused(_ detail: String, _ error: (any Error)? = nil) -> TransportError {
    TransportError(.refused, requestState: .notSent, detail: detail, underlying: error).attributed(to: .trafficControl)
  }

  /// The error of a call for which a server has responded before.
  static func afterResponse(_ error: any Error) -> any Error {
    guard var error = error as? TransportError else { return error }
    error.requestState = .responded
    return error
  }
}

/// An error that a refresh throws if the credentials can never be refreshed again, and the server indicated this by
/// means other than 401, 403 or `invalid_grant`.
public struct RefreshRejection: Error, Sendable, Hashable {
  /// Creates an error.
  public init() {}

  /// Whether only a new sign-in helps (RFC 6749 §5.2): after 401 and 403, and after 400 only with `invalid_grant`,
  /// since any other 400 may concern the request itself.
  static func isLasting(_ error: any Error) -> Bool {
    if error is RefreshRejection { return true }
    if let error = error as? any RefreshError { return error.isLasting }
    guard let error = error as? CallError else { return false }
    if error.underlying is RefreshRejection { return true }
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

/// An error of a refresh that knows whether only a new sign-in helps.
package protocol RefreshError: Error {
  /// Whether the credentials can never be refreshed again.
  var isLasting: Bool { get }
}

extension Error {
  /// The error's own text if its type promises that it contains no secrets, else the name of the type.
  var loggedReason: String {
    (self as? any LoggableError)?.description ?? "\(type(of: self))"
  }
}

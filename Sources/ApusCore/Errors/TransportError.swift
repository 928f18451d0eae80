/// The failure of an exchange, thrown by transports and middlewares.
///
/// The client converts it to a ``CallError``. Any other error that a transport throws is treated as
/// ``CallError/Code/connectionLost``.
public struct TransportError: Error, Sendable, CustomStringConvertible {
  /// The code of the ``CallError`` that this error becomes.
  ///
  /// Transports use `offline`, `hostNotFound`, `connectionFailed`, `tls`, `connectionLost`, `malformedResponse`,
  /// `contentTooLarge` and `timeout`; `refused` if they accept no request now, because they are shut down or their
  /// queue is full; and `invalidRequest` if they cannot send the message.
  public var code: CallError.Code
  /// The phase in which the time limit passed, for the code `timeout`. Default: `nil`, the phase of the call.
  public var phase: CallPhase?
  /// Whether the request was sent.
  public var requestState: RequestState
  /// Details for logs. Must not contain secrets.
  public var detail: String
  /// The platform's own error.
  public var underlying: (any Error)?
  /// The delay before a retry, if known. Default: `nil`.
  public var retryAfter: Duration?
  /// The part that failed. A circuit breaker counts only failures of ``Source/server``. A failure of ``Source/content``
  /// is never retried. Default: ``Source/server``.
  public var source = Source.server
  /// Whether the limit of an attempt has passed, so that another attempt has time again.
  package private(set) var endsAttemptOnly = false

  /// Creates an error with the source ``Source/server``.
  ///
  /// - Parameters:
  ///   - code: the kind of failure, see ``code``.
  ///   - phase: the phase in which the time limit passed, for the code `timeout`. Default: `nil`, the phase of the
  ///     call.
  ///   - requestState: whether the request was sent.
  ///   - detail: details for logs, without secrets. Default: none.
  ///   - underlying: the platform's own error. Default: `nil`.
  public init(
    _ code: CallError.Code, in phase: CallPhase? = nil, requestState: RequestState, detail: String = "",
    underlying: (any Error)? = nil
  ) {
    (self.code, self.phase) = (code, phase)
    self.requestState = requestState
    self.detail = detail
    self.underlying = underlying
  }

  /// Returns the error for content (body) that exceeds the call's ``ExchangeContext/contentLimit``.
  public static func contentTooLarge(limit: Int) -> TransportError {
    TransportError(.contentTooLarge, requestState: .responded, detail: "the content exceeds \(limit) bytes")
  }

  /// Returns the error for an attempt whose deadline (``ExchangeContext/attemptDeadline``) passed before the response
  /// head arrived.
  ///
  /// - Parameters:
  ///   - phase: the phase in which the deadline passed.
  ///   - requestState: whether the request was sent.
  public static func attemptTimedOut(in phase: CallPhase, requestState: RequestState) -> TransportError {
    var error = TransportError(.timeout, in: phase, requestState: requestState, detail: "the attempt timed out")
    error.endsAttemptOnly = true
    return error
  }

  /// Returns the error for a URL that a response named and that is not requested.
  ///
  /// - Parameter reason: one or more clauses that contain no part of the URL.
  package static func namedURL(_ reason: String) -> TransportError {
    TransportError(.malformedResponse, requestState: .responded, detail: reason, underlying: UnusableURL())
  }

  /// The error for an http URL that was named by a response received over https.
  static let leavesHTTPS = TransportError(
    .malformedResponse, requestState: .responded,
    detail: "the server named an http URL in a response over https, and it was not requested",
    underlying: DowngradeRefusal()
  ).attributed(to: .trafficControl)

  /// The code, the state of the request and the detail.
  public var description: String {
    detail.isEmpty ? "\(code.rawValue) (\(requestState))" : "\(code.rawValue) (\(requestState)): \(detail)"
  }
}

/// The cause of a failure with the code `malformedResponse`, also when the response follows the rules of HTTP.
package protocol ResponseFault: Error {
  /// The failure, as a predicate whose subject is the endpoint. `nil` if the response breaks the rules of HTTP.
  var predicate: String? { get }
}

/// The cause of a failure whose URL was named by a response and cannot be requested.
struct UnusableURL: ResponseFault {
  let predicate: String? = "could not follow a URL that the server named"
}

/// The cause of a failure whose URL uses http and was named by a response received over https.
package struct DowngradeRefusal: ResponseFault, Hashable {
  package var predicate: String? { UnusableURL().predicate }
}

extension TransportError {
  /// The part that failed. Decides whether a failure counts against the server and whether a retry can help.
  public enum Source: Sendable, Hashable, CaseIterable {
    /// The server, or the network path to it.
    case server
    /// The content to send: its file cannot be read, its length differs from the announced length, or its producer
    /// threw. The request would fail with any server.
    case content
    /// Obtaining credentials, with or without an exchange with the server that issues them.
    case credentials
    /// Traffic control in the client: an open circuit, an exhausted rate limit or a full queue. Neither the server nor
    /// the request failed.
    case trafficControl
  }

  /// Returns the same error with another source.
  package func attributed(to subject: Source) -> TransportError {
    var error = self
    error.source = subject
    return error
  }
}

/// The failure of an exchange, thrown by transports and middlewares.
///
/// The client converts it to a ``CallError``. Any other error that a transport throws is treated as
/// ``Kind/connectionLost``.
public struct TransportError: Error, Sendable, CustomStringConvertible {
  /// The kind of a failure.
  #if hasAttribute(nonexhaustive)
  @nonexhaustive
  #endif
  public enum Kind: Sendable, Hashable {
    /// The device has no network.
    case offline
    /// The host name has no address.
    case hostNotFound
    /// The connection was refused or could not be established.
    case connectionFailed
    /// The TLS connection could not be established: certificate, pin or protocol.
    case tls
    /// The connection was lost during the exchange, or the content (body) was not sent completely although the server
    /// responded with success.
    case connectionLost
    /// The response breaks the rules of HTTP, or is a redirect that is not followed.
    case malformedResponse
    /// The response is larger than allowed.
    case contentTooLarge
    /// A deadline or timeout passed in this phase.
    case timedOut(CallPhase)
    /// The transport accepts no request now: it is shut down, or its queue is full.
    case refused
    /// The transport cannot send the message, or a middleware could not complete it.
    case invalidRequest
  }

  /// The kind of failure.
  public var kind: Kind
  /// Whether the request was sent.
  public var requestState: RequestState
  /// Details for logs. Must not contain secrets.
  public var detail: String
  /// The platform's own error.
  public var underlying: (any Error)?
  /// The delay before a retry, if known. Default: `nil`.
  public var retryAfter: Duration?
  /// The part that failed. A circuit breaker counts only ``Source/server``, and a failure of ``Source/content`` is
  /// never retried. Default: ``Source/server``.
  public var source = Source.server
  /// Whether the limit of an attempt has passed, so that another attempt has time again.
  package private(set) var endsAttemptOnly = false

  /// Creates an error with the source ``Source/server``. For another source use ``attributed(to:)``.
  public init(_ kind: Kind, requestState: RequestState, detail: String = "", underlying: (any Error)? = nil) {
    self.kind = kind
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
    var error = TransportError(.timedOut(phase), requestState: requestState, detail: "the attempt timed out")
    error.endsAttemptOnly = true
    return error
  }

  /// Returns the error for a URL that a response named and that is not requested.
  ///
  /// - Parameter reason: a sentence's clauses without anything of the URL.
  package static func namedURL(_ reason: String) -> TransportError {
    TransportError(.malformedResponse, requestState: .responded, detail: reason)
  }

  /// The error for an http URL that a response over https named.
  static let leavesHTTPS = TransportError(
    .malformedResponse, requestState: .responded,
    detail: "the server named an http URL in a response over https, and it was not requested",
    underlying: DowngradeRefusal()
  ).attributed(to: .trafficControl)

  /// The kind, the state of the request and the detail.
  public var description: String {
    detail.isEmpty ? "\(kind) (\(requestState))" : "\(kind) (\(requestState)): \(detail)"
  }
}

/// The cause of a failure whose URL was named by a response over https, and is http.
package struct DowngradeRefusal: Error, Hashable {}

extension TransportError {
  /// The part that failed. Decides whether a failure counts against the server and whether a retry can help.
  public enum Source: String, Sendable, Hashable, CaseIterable {
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
  public func attributed(to subject: Source) -> TransportError {
    var error = self
    error.source = subject
    return error
  }

  /// The code of the ``CallError`` that this error becomes.
  public var code: ErrorCode {
    switch kind {
    case .offline: .offline
    case .hostNotFound: .hostNotFound
    case .connectionFailed: .connectionFailed
    case .tls: .tls
    case .connectionLost: .connectionLost
    case .malformedResponse: .malformedResponse
    case .contentTooLarge: .contentTooLarge
    case .refused: .refused
    case .invalidRequest: .invalidRequest
    case .timedOut: .timeout
    }
  }
}

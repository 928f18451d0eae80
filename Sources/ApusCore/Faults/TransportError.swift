/// Why an exchange failed: what transports and middlewares throw.
///
/// A client turns it into a ``CallError``; anything else that a transport throws counts as ``Kind/broken``.
public struct TransportError: Error, Sendable, CustomStringConvertible {
  /// What went wrong, as far as the transport can tell.
  public enum Kind: Sendable, Hashable {
    /// The device has no network.
    case offline
    /// The host's name has no address.
    case hostNotFound
    /// Nobody accepted the connection.
    case connectionFailed
    /// The secure connection could not be made: certificate, pin, protocol.
    case tls
    /// The exchange broke off after it had begun.
    case broken
    /// The answer breaks the rules of HTTP, or is a redirect that is not followed.
    case malformedResponse
    /// The answer is larger than allowed.
    case contentTooLarge
    /// A deadline passed.
    case timedOut(CallPhase)
    /// The transport takes no message now: it is shut down, or too many wait already.
    case declined
    /// The message cannot be sent: by this transport, or because a middleware could not complete it.
    case unsupported
  }

  /// What went wrong.
  public var kind: Kind
  /// Whether the request had left.
  public var requestState: RequestState
  /// What the transport knows beyond that, for logs; holds no secrets.
  public var detail: String
  /// The platform's own error.
  public var underlying: (any Error)?
  /// How long to wait before it makes sense to try again, where whoever refused knows. Default: `nil`.
  public var retryAfter: Duration?
  /// What failed: a circuit breaker counts nothing but ``Subject/server``, and where it is ``Subject/content`` nothing
  /// is tried again. Default: ``Subject/server``.
  public var subject = Subject.server

  /// Makes an error.
  public init(_ kind: Kind, requestState: RequestState, detail: String = "", underlying: (any Error)? = nil) {
    self.kind = kind
    self.requestState = requestState
    self.detail = detail
    self.underlying = underlying
  }

  /// The error for content of more bytes than a call takes (``CallContext/contentLimit``).
  public static func contentTooLarge(limit: Int) -> TransportError {
    TransportError(.contentTooLarge, requestState: .answered, detail: "the content exceeds \(limit) bytes")
  }

  /// The error of an attempt whose time was up (``CallContext/attemptDeadline``) before the head of its answer came.
  ///
  /// - Parameters:
  ///   - phase: what took so long.
  ///   - requestState: whether the request had left.
  public static func attemptTimedOut(in phase: CallPhase, requestState: RequestState) -> TransportError {
    TransportError(.timedOut(phase), requestState: requestState, detail: "the time of the attempt was up")
  }

  /// Kind, state and detail.
  public var description: String {
    detail.isEmpty ? "\(kind) (\(requestState))" : "\(kind) (\(requestState)): \(detail)"
  }
}

extension TransportError {
  /// What failed, whatever it looked like: whether that says something of the server, and whether it would fail again.
  public enum Subject: String, Sendable, Hashable, CaseIterable {
    /// The server, or the way to it.
    case server
    /// The content to send: a file that cannot be read, another length than was announced, or whoever makes it threw.
    /// It would fail at any server.
    case content
    /// Getting credentials: the exchange was with whoever gives them, or there was none.
    case credentials
    /// Nothing: what holds calls back on this side lets none through for now, such as an open circuit, a rate limit or
    /// a queue that is full.
    case control
  }

  /// The same error, of something else that failed; for where it is made.
  public func about(_ subject: Subject) -> TransportError {
    var error = self
    error.subject = subject
    return error
  }
}

extension TransportError {
  /// The code of the ``CallError`` that a call ends with when this is thrown.
  public var code: ErrorCode {
    switch kind {
    case .offline: .offline
    case .hostNotFound: .hostNotFound
    case .connectionFailed: .connectionFailed
    case .tls: .tls
    case .broken: .broken
    case .malformedResponse: .malformedResponse
    case .contentTooLarge: .contentTooLarge
    case .declined: .declined
    case .unsupported: .invalidRequest
    case .timedOut: .timeout
    }
  }
}

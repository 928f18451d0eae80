/// The kind of failure: a stable label for code and metrics.
///
/// Apps use it as ``CallError/Code``.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum ErrorCode: String, Sendable, Hashable, CaseIterable {
  /// The request is invalid: its base URL, path, a field or a setting.
  case invalidRequest
  /// The content (body) or the query cannot be encoded.
  case encoding
  /// Apus refused to start or to continue the call.
  ///
  /// The id is in use, required credentials are missing, the account has changed, or the transport is shut down. With
  /// the category ``CallError/Category/refused`` the refusal is temporary: a circuit is open, the rate limit is
  /// exhausted for too long, or a queue is full.
  case refused
  /// The device has no network.
  case offline
  /// The host name has no address.
  case hostNotFound
  /// The connection was refused or could not be established.
  case connectionFailed
  /// The TLS connection could not be established.
  case tls
  /// A deadline or timeout passed; ``CallError/phase`` says where the call was.
  case timeout
  /// The call was cancelled or superseded; ``CallError/cancellation`` says why.
  case cancelled
  /// The connection was lost during the exchange. With a status of 2xx: the server responded with success before it had
  /// all content (body), and the rest was not sent.
  case connectionLost
  /// The response breaks the rules of HTTP, or is a redirect that is not followed: a loop, a forbidden target or no
  /// target. Also for a URL that a response named, for example that of the next page, and that cannot be used.
  case malformedResponse
  /// The response is larger than allowed.
  case contentTooLarge
  /// The server rejected the call, by status or in an envelope.
  case rejected
  /// The response does not match the type that the endpoint declares.
  case decoding
  /// A closure of the app threw.
  case handler
}

/// The stage of a call.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum CallPhase: String, Sendable, Hashable {
  /// The request is described, encoded and checked.
  case preparing
  /// The call waits in the pipeline, before an exchange.
  case waiting
  /// The connection is being established or the request is being sent; no byte of the response has arrived.
  case connecting
  /// The request is sent; the response head is awaited.
  case awaitingHead
  /// The content (body) of the response is arriving.
  case receiving
  /// The response is decoded.
  case decoding
  /// A closure of the app runs.
  case handling
}

/// Whether the server may have seen a failed request, which determines whether a retry is safe.
public enum RequestState: String, Sendable, Hashable {
  /// The server cannot have seen the request.
  case notSent
  /// The server may have acted on the request.
  case maybeSent
  /// The server responded.
  case responded
}

/// The reason why a call ended early.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum CancellationReason: Sendable, Hashable, CustomStringConvertible {
  /// The task that made the call was cancelled.
  case caller
  /// The call was cancelled through the registry: by id, tag, endpoint or with all others.
  case requested
  /// A newer call replaced this one.
  case superseded
  /// The deadline of the whole call passed in this phase.
  case deadline(CallPhase)

  /// The code of the error for this reason.
  var code: ErrorCode {
    if case .deadline = self { return .timeout }
    return .cancelled
  }

  /// The reason in a few words.
  public var description: String {
    switch self {
    case .caller: "the caller's task was cancelled"
    case .requested: "by the app"
    case .superseded: "superseded by a newer call"
    case .deadline(let phase): "deadline passed while \(phase.rawValue)"
    }
  }
}

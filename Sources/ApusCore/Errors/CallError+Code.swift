extension CallError {
  /// The kind of failure: a stable label for code and metrics.
  #if hasAttribute(nonexhaustive)
  @nonexhaustive
  #endif
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The request is invalid, for example its base URL, its path, a field or a setting.
    case invalidRequest
    /// The content (body) or the query cannot be encoded.
    case encoding
    /// Apus refused to start or to continue the call.
    ///
    /// The id is in use, required credentials are missing, the account has changed, or the transport is shut down. With
    /// ``CallError/isThrottled`` the refusal is temporary: a circuit is open, the rate limit is exhausted for too long,
    /// or a queue is full.
    case refused
    /// The device has no network.
    case offline
    /// The host name has no address.
    case hostNotFound
    /// The connection was refused or could not be established.
    case connectionFailed
    /// The TLS connection could not be established.
    case tls
    /// A deadline or timeout passed; ``CallError/phase`` is the phase of the call at that time.
    case timeout
    /// The call was cancelled or superseded; ``CallError/cancellation`` says why.
    case cancelled
    /// The connection was lost during the exchange. If the status is 2xx, the server responded with success before it
    /// had received all content (body), and the rest was not sent.
    case connectionLost
    /// The response breaks the rules of HTTP, or is a redirect that is not followed: a loop, a forbidden target or no
    /// target. Also the code for an unusable URL that a response named, for example the URL of the next page.
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
}

extension CallError {
  /// A coarse kind, for apps that only tell a few cases apart.
  public enum Category: String, Sendable, Hashable, CaseIterable {
    /// No way to the server for now: no network, no address, no connection, or what holds calls back on this side lets
    /// none through (a circuit, a rate limit, a queue). Try later, where ``CallError/retryAfter`` says when, then.
    case offline
    /// Cancelled or superseded.
    case cancelled
    /// A deadline passed.
    case timeout
    /// The server refused and said why.
    case reported
    /// The server refused without a reason, or the exchange failed after it had begun.
    case notReported
    /// The request's values cannot be encoded.
    case encoding
    /// The answer is not what the endpoint promises.
    case decoding
    /// The request cannot be made, or was declined for another reason than that there is no way now.
    case invalidRequest
    /// The app's own closure threw.
    case handler
  }

  /// The coarse kind of this error.
  public var category: Category {
    switch code {
    case .offline, .hostNotFound, .connectionFailed: .offline
    case .cancelled: .cancelled
    case .timeout: .timeout
    case .rejected: rejection?.isReported == true ? .reported : .notReported
    case .broken, .tls, .malformedResponse, .contentTooLarge: .notReported
    case .encoding: .encoding
    case .decoding: .decoding
    case .invalidRequest: .invalidRequest
    // Who was held back has made no mistake.
    case .declined: storage.subject == .control ? .offline : .invalidRequest
    case .handler: .handler
    }
  }
}

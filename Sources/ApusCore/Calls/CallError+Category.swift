extension CallError {
  /// A coarse kind, for apps that only tell a few cases apart.
  public enum Category: String, Sendable, Hashable, CaseIterable {
    /// The device has no network.
    case offline
    /// There is a network, and the server cannot be found or reached: its name has no address, or the
    /// connection is refused.
    case unreachable
    /// Apus held the call back, since a circuit is open, a rate limit or a queue is full: the app has made no mistake.
    /// Retry later, where ``CallError/retryAfter`` says when, then.
    case heldBack
    /// Cancelled or superseded.
    case cancelled
    /// A deadline passed.
    case timeout
    /// The server rejected the call and said why.
    case reported
    /// The server rejected the call without a reason, or the exchange failed after it had begun.
    case notReported
    /// The request's values cannot be encoded.
    case encoding
    /// The answer is not what the endpoint promises.
    case decoding
    /// The request cannot be made, or was declined for another reason than that calls are held back.
    case invalidRequest
    /// The app's own closure threw.
    case handler
  }

  /// The coarse kind of this error.
  public var category: Category {
    switch code {
    case .offline: .offline
    case .hostNotFound, .connectionFailed: .unreachable
    case .cancelled: .cancelled
    case .timeout: .timeout
    case .rejected: rejection?.isReported == true || storage.failure.sentence != nil ? .reported : .notReported
    case .broken, .tls, .malformedResponse, .contentTooLarge: .notReported
    case .encoding: .encoding
    case .decoding: .decoding
    case .invalidRequest: .invalidRequest
    case .declined: storage.failure.subject == .control ? .heldBack : .invalidRequest
    case .handler: .handler
    }
  }
}

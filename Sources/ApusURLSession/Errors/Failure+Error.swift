import ApusCore

extension ExchangeState.Failure {
  /// What whoever waits is told.
  ///
  /// - Parameters:
  ///   - platformError: what the session reported, if it did.
  ///   - hasHead: whether the head of the answer had arrived.
  ///   - contentLimit: the limit that was passed, if it was that.
  func error(_ platformError: (any Error)?, hasHead: Bool, contentLimit: Int) -> any Error {
    let state = hasHead ? RequestState.answered : .maybeSent
    switch self {
    case .cancelled:
      return CancellationError()
    case .shutDown:
      return TransportError(.broken, requestState: state, detail: "the transport was shut down")
    case .malformed:
      return TransportError(.malformedResponse, requestState: .answered, detail: "the answer is not one of HTTP")
    case .headless:
      return TransportError(.malformedResponse, requestState: .maybeSent, detail: "the answer has no head")
    case .contentTooLarge:
      return TransportError.contentTooLarge(limit: contentLimit)
    case .tornContent:
      if let error = platformError as? TransportError { return error.about(.content) }
      return TransportError(
        .broken, requestState: state, detail: "the content to send could not be made", underlying: platformError
      ).about(.content)
    case .attemptOver(let phase, let requestState):
      return TransportError.attemptTimedOut(in: phase, requestState: requestState)
    case .untrusted(let reason):
      return TransportError(.tls, requestState: .notSent, detail: reason)
    case .platform:
      guard let platformError else { return TransportError(.broken, requestState: state) }
      return TransportError(platformError, hasHead: hasHead)
    }
  }
}

import ApusCore

/// The progress of an exchange. A pure state machine; ``SessionExchange`` performs the actions.
///
/// Every wait ends exactly once. The wait of the caller ends by ``Action/deliverResponse`` or ``Action/fail(_:)``. The
/// wait for content that arrives after the head ends by ``Action/finishContent`` or ``Action/failContent(_:)``.
struct SessionExchangeState {
  /// The actions to perform, in this order.
  enum Action: Equatable {
    /// Resume the session's task.
    case resumeTask
    /// Cancel the session's task.
    case cancelTask
    /// Report the head of a response that is delivered later, with its content.
    case reportHead
    /// Report a piece of content that is stored until the response is delivered.
    case reportPiece
    /// Deliver the response to the caller: complete, or at its head while the content arrives.
    case deliverResponse
    /// Fail the caller.
    case fail(Failure)
    /// Deliver a piece of content.
    case deliverPiece
    /// End the content.
    case finishContent
    /// Fail the content.
    case failContent(Failure)
    /// Instruct the session not to follow a redirect.
    case refuseRedirect
    /// Remove the exchange from the session's table: no further event arrives.
    case forget
  }

  enum Failure: Equatable {
    /// The response is not HTTP.
    case malformed
    case cancelled
    case shutDown
    /// The error that the platform reported.
    case platform
    /// The task ended without an error and without a head.
    case headless
    case contentTooLarge
    /// The content to send could not be produced.
    case truncatedContent
    /// The server responded with success, although the content was not sent completely.
    case incompleteRequest
    /// The server or the client's identity is not trusted, for this reason.
    case untrusted(String)
    /// The attempt's deadline passed, in this phase.
    case attemptOver(CallPhase, RequestState)
  }

  private enum Stage {
    case created
    case awaitingHead
    case receiving
    case ended
  }

  private enum RedirectResponse {
    case none
    case underWay
    /// The completion handler is being called; the task is cancelled afterwards.
    case underWayBeforeCancel
  }

  private var stage = Stage.created
  /// The failure to report to a caller that does not wait yet.
  private var failureToReport: Failure?
  private var redirect = RedirectResponse.none
  private var challengeWasRefused = false
  private var taskIsOver = false
  /// Whether the response is delivered complete, not at its head.
  private(set) var isBuffered: Bool

  init(isBuffered: Bool) {
    self.isBuffered = isBuffered
  }

  /// Whether the head has arrived.
  private(set) var hasHead = false

  /// Starts the exchange for a caller that waits for the head.
  mutating func start() -> [Action] {
    if let failure = failureToReport {
      failureToReport = nil
      return [.fail(failure)]
    }
    guard case .created = stage else { return [] }
    stage = .awaitingHead
    return [.resumeTask]
  }

  /// Ends the exchange because of a local failure.
  mutating func end(_ failure: Failure) -> [Action] {
    let previous = stage
    stage = .ended
    switch previous {
    case .created:
      failureToReport = failure
      return cancelTask()
    case .awaitingHead: return [.fail(failure)] + cancelTask()
    case .receiving: return [isBuffered ? .fail(failure) : .failContent(failure)] + cancelTask()
    case .ended: return []
    }
  }

  /// Ends the attempt at its deadline, which applies to the head, not to the content.
  ///
  /// - Parameter hasSentAll: whether the request is known to have left.
  mutating func attemptEnded(hasSentAll: Bool) -> [Action] {
    switch stage {
    case .created: return end(.attemptOver(.connecting, .notSent))
    case .awaitingHead: return end(.attemptOver(hasSentAll ? .awaitingHead : .connecting, .maybeSent))
    case .receiving, .ended: return []
    }
  }

  /// Receives the head of the final response. The content of a redirect that is followed is not collected.
  mutating func headArrived(isFollowed: Bool = false) -> [Action] {
    guard case .awaitingHead = stage else { return [] }
    stage = .receiving
    hasHead = true
    if isFollowed { isBuffered = false }
    return [isBuffered ? .reportHead : .deliverResponse]
  }

  /// Receives a piece of content.
  ///
  /// - Parameter fits: whether the content is within the call's limit with this piece.
  mutating func pieceArrived(fits: Bool) -> [Action] {
    guard case .receiving = stage else { return [] }
    guard fits else { return end(.contentTooLarge) }
    return [isBuffered ? .reportPiece : .deliverPiece]
  }

  /// Handles a redirect that the session proposes to follow.
  ///
  /// On Linux the process crashes if the completion handler is called after the task was cancelled, or if the task is
  /// cancelled during that call. So cancellation waits for the completion handler to return, and the handler is not
  /// called after a cancellation.
  mutating func redirectArrived() -> [Action] {
    guard case .awaitingHead = stage else { return [] }
    redirect = .underWay
    return [.refuseRedirect]
  }

  /// Records that the session was instructed not to follow the redirect.
  mutating func redirectRefused() -> [Action] {
    defer { redirect = .none }
    if case .underWayBeforeCancel = redirect, !taskIsOver { return [.cancelTask] }
    return []
  }

  /// Records that the session requested credentials and received no credentials. The session reports this as a
  /// cancelled task.
  mutating func challengeArrived() {
    challengeWasRefused = true
  }

  /// Ends the exchange because the session's task has ended.
  ///
  /// - Parameters:
  ///   - withError: whether the session reported an error.
  ///   - isCancellation: whether the error is that the task was cancelled.
  ///   - isIncomplete: whether the server responded with success and the content was not sent completely.
  mutating func taskEnded(withError: Bool, isCancellation: Bool, isIncomplete: Bool = false) -> [Action] {
    guard !taskIsOver else { return [] }
    taskIsOver = true
    let isGood = !withError || (isCancellation && challengeWasRefused)
    let previous = stage
    stage = .ended
    switch previous {
    case .created:
      failureToReport = .platform
      return [.forget]
    case .awaitingHead: return [.fail(isGood ? .headless : .platform), .forget]
    case .receiving where isGood && !isIncomplete:
      return [isBuffered ? .deliverResponse : .finishContent, .forget]
    case .receiving:
      let failure = isIncomplete ? Failure.incompleteRequest : .platform
      return [isBuffered ? .fail(failure) : .failContent(failure), .forget]
    case .ended: return [.forget]
    }
  }

  private mutating func cancelTask() -> [Action] {
    guard !taskIsOver else { return [] }
    guard case .none = redirect else {
      redirect = .underWayBeforeCancel
      return []
    }
    return [.cancelTask]
  }
}

import ApusCore

/// Where an exchange is, and what its events lead to: pure, the exchange performs the actions it answers.
///
/// Every wait is answered exactly once: the wait for the answer by ``Action/answer`` or ``Action/fail(_:)``, content
/// that arrives after the answer was given by ``Action/finishContent`` or ``Action/failContent(_:)``.
struct ExchangeState {
  /// What is to be done, in this order.
  enum Action: Equatable {
    /// Let the session's task run.
    case resumeTask
    /// Stop the session's task.
    case cancelTask
    /// Report the head of an answer that is handed over later, with its content.
    case reportHead
    /// Report a piece of content that is kept until then.
    case reportPiece
    /// Hand the answer to whoever waits for it: with all of its content, or the head while the content arrives.
    case answer
    /// Tell whoever waits for the answer that there will be none.
    case fail(Failure)
    /// Pass a piece of content on.
    case deliver
    /// The content is complete.
    case finishContent
    /// The content breaks off.
    case failContent(Failure)
    /// Tell the session not to follow a redirect.
    case refuseRedirect
    /// Take the exchange out of the session's table: nothing more will come.
    case forget
  }

  enum Failure: Equatable {
    /// What arrived is not HTTP.
    case malformed
    case cancelled
    case shutDown
    /// What the platform reported.
    case platform
    /// It ended well without ever having a head.
    case headless
    case contentTooLarge
    /// The content to send could not be made.
    case tornContent
    /// The server, or the client's own identity, cannot be trusted; says why.
    case untrusted(String)
    /// The time of its attempt was up, in this phase.
    case attemptOver(CallPhase, RequestState)
  }

  private enum Stage {
    case created
    case awaitingHead
    case receiving
    case ended
  }

  private enum RedirectAnswer {
    case none
    case beingGiven
    /// A cancellation waits until the answer is given.
    case beingGivenBeforeCancel
  }

  private var stage = Stage.created
  /// Whoever waits for the head has not come yet, but is to be told this.
  private var failureToTell: Failure?
  private var redirect = RedirectAnswer.none
  private var challengeWasRefused = false
  private var taskIsOver = false
  /// Whether the answer is handed over with all of its content, not at its head.
  private(set) var isBuffered: Bool

  init(isBuffered: Bool) {
    self.isBuffered = isBuffered
  }

  /// Whether the head has arrived.
  private(set) var hasHead = false

  /// Somebody waits for the head.
  mutating func start() -> [Action] {
    if let failure = failureToTell {
      failureToTell = nil
      return [.fail(failure)]
    }
    guard case .created = stage else { return [] }
    stage = .awaitingHead
    return [.resumeTask]
  }

  /// The exchange is not wanted any more, or may not go on.
  mutating func end(_ failure: Failure) -> [Action] {
    let previous = stage
    stage = .ended
    switch previous {
    case .created:
      failureToTell = failure
      return cancelTask()
    case .awaitingHead: return [.fail(failure)] + cancelTask()
    case .receiving: return [isBuffered ? .fail(failure) : .failContent(failure)] + cancelTask()
    case .ended: return []
    }
  }

  /// The time of its attempt is up, which is that of the head, not of the content.
  ///
  /// - Parameter hasSentAll: whether the request is known to have left.
  mutating func attemptEnded(hasSentAll: Bool) -> [Action] {
    switch stage {
    case .created: return end(.attemptOver(.connecting, .notSent))
    case .awaitingHead: return end(.attemptOver(hasSentAll ? .awaitingHead : .connecting, .maybeSent))
    case .receiving, .ended: return []
    }
  }

  /// The head of the final response arrived; nobody wants the content of a redirect that is followed.
  mutating func headArrived(isFollowed: Bool = false) -> [Action] {
    guard case .awaitingHead = stage else { return [] }
    stage = .receiving
    hasHead = true
    if isFollowed { isBuffered = false }
    return [isBuffered ? .reportHead : .answer]
  }

  /// A piece of content arrived; `fits` unless it is more than the call takes.
  mutating func pieceArrived(fits: Bool) -> [Action] {
    guard case .receiving = stage else { return [] }
    guard fits else { return end(.contentTooLarge) }
    return [isBuffered ? .reportPiece : .deliver]
  }

  /// The session asks whether to follow a redirect.
  ///
  /// On Linux an answer that comes after the task was cancelled ends the process, and so does cancelling while
  /// the answer is under way; so one waits for the other.
  mutating func redirectArrived() -> [Action] {
    guard case .awaitingHead = stage else { return [] }
    redirect = .beingGiven
    return [.refuseRedirect]
  }

  /// The session has been told not to follow the redirect.
  mutating func redirectRefused() -> [Action] {
    defer { redirect = .none }
    if case .beingGivenBeforeCancel = redirect, !taskIsOver { return [.cancelTask] }
    return []
  }

  /// The session asked for credentials and is told to go without, which it reports as a cancelled task.
  mutating func challengeArrived() {
    challengeWasRefused = true
  }

  /// The session's task is over.
  mutating func taskEnded(withError: Bool, isCancellation: Bool) -> [Action] {
    guard !taskIsOver else { return [] }
    taskIsOver = true
    let isGood = !withError || (isCancellation && challengeWasRefused)
    let previous = stage
    stage = .ended
    switch previous {
    case .created:
      failureToTell = .platform
      return [.forget]
    case .awaitingHead: return [.fail(isGood ? .headless : .platform), .forget]
    case .receiving where isBuffered: return [isGood ? .answer : .fail(.platform), .forget]
    case .receiving: return [isGood ? .finishContent : .failContent(.platform), .forget]
    case .ended: return [.forget]
    }
  }

  private mutating func cancelTask() -> [Action] {
    guard !taskIsOver else { return [] }
    guard case .none = redirect else {
      redirect = .beingGivenBeforeCancel
      return []
    }
    return [.cancelTask]
  }
}

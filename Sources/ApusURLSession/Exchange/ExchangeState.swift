/// Where an exchange is, and what its events lead to: pure, the exchange performs the actions it answers.
///
/// Every wait is answered exactly once: the wait for the head by ``Action/answer`` or ``Action/fail(_:)``, the
/// content by ``Action/finishContent`` or ``Action/failContent(_:)``.
struct ExchangeState {
  /// What is to be done, in this order.
  enum Action: Equatable {
    /// Let the session's task run.
    case resumeTask
    /// Stop the session's task.
    case cancelTask
    /// Hand the head to whoever waits for it.
    case answer
    /// Tell whoever waits for the head that there will be none.
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
  private var received = 0
  /// The most bytes to receive; `nil`: any number.
  private let contentLimit: Int?

  init(contentLimit: Int? = nil) {
    self.contentLimit = contentLimit
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
    case .receiving: return [.failContent(failure)] + cancelTask()
    case .ended: return []
    }
  }

  /// The head of the final response arrived.
  mutating func headArrived() -> [Action] {
    guard case .awaitingHead = stage else { return [] }
    stage = .receiving
    hasHead = true
    return [.answer]
  }

  /// A piece of content arrived.
  mutating func pieceArrived(_ count: Int) -> [Action] {
    guard case .receiving = stage else { return [] }
    received += count
    if let contentLimit, received > contentLimit { return end(.contentTooLarge) }
    return [.deliver]
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

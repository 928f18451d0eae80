import ApusCore
import Foundation
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// One exchange: performs what ``ExchangeState`` decides, between a task of the session and whoever waits.
///
/// The platform's own waiting is not used at all: whoever waits is answered here, and the task is stopped
/// after that, because on Linux a stopped task does not always say so.
final class Exchange: Sendable {
  typealias Waiter = CheckedContinuation<ResponseMessage, any Error>

  private struct State {
    var machine: ExchangeState
    var waiter: Waiter?
    var content: ContentChannel?
    var hasSentAll = false
  }

  /// What came with an event.
  private enum Input {
    case nothing
    case head(ResponseHead)
    case piece(Data)
    case error((any Error)?)
    case redirect(() -> Void)
  }

  private let task: URLSessionTask
  private let session: OpenSession
  private let request: PreparedRequest
  private let context: CallContext
  private let state: Mutex<State>

  init(task: URLSessionTask, session: OpenSession, request: PreparedRequest, context: CallContext) {
    self.task = task
    self.session = session
    self.request = request
    self.context = context
    // Nothing slows the sender down on Linux: a limit must be kept while the content arrives.
    let limit = context.delivery == .buffered ? context.contentLimit : nil
    state = Mutex(State(machine: ExchangeState(contentLimit: limit)))
  }

  // MARK: From whoever waits

  /// Begins; `waiter` is answered exactly once.
  func start(_ waiter: Waiter) {
    perform { state in
      state.waiter = waiter
      return state.machine.start()
    }
  }

  func cancel() {
    end(.cancelled)
  }

  func end(_ failure: ExchangeState.Failure) {
    perform { $0.machine.end(failure) }
  }

  // MARK: From the session

  func sent(_ total: Int64, expected: Int64) {
    let expected = expected > 0 ? expected : request.contentLength
    context.sent(total: total, expected: expected)
    if let expected, total >= expected { recordSent() }
  }

  func receive(_ response: URLResponse) {
    guard let head = ResponseHead(response, to: request) else { return end(.malformed) }
    if head.isInterim { return }
    recordSent()
    perform(.head(head)) { $0.machine.headArrived() }
  }

  func receive(_ data: Data) {
    perform(.piece(data)) { $0.machine.pieceArrived(data.count) }
  }

  func refuseRedirect(_ refuse: @escaping () -> Void) {
    perform(.redirect(refuse)) { $0.machine.redirectArrived() }
    perform { $0.machine.redirectRefused() }
  }

  func refuseChallenge() {
    state.withLock { $0.machine.challengeArrived() }
  }

  func taskEnded(_ error: (any Error)?) {
    if error == nil, let head = ResponseHead(unreported: task, of: request) {
      // Does nothing when the head was reported.
      perform(.head(head)) { $0.machine.headArrived() }
    }
    let isCancellation = (error as? URLError)?.code == .cancelled
    perform(.error(error)) { $0.machine.taskEnded(withError: error != nil, isCancellation: isCancellation) }
  }

  private func recordSent() {
    let isFirst = state.withLock { state in
      defer { state.hasSentAll = true }
      return !state.hasSentAll
    }
    if isFirst { context.record(.requestSent) }
  }

  // MARK: Performing

  private func perform(_ input: Input = .nothing, _ step: (inout State) -> [ExchangeState.Action]) {
    // What is taken out is decided under the lock, and used outside of it.
    let (actions, waiter, content, hasHead) = state.withLock { state in
      let actions = step(&state)
      if actions.contains(.answer) { state.content = channel() }
      defer { if actions.contains(where: \.answersWaiter) { state.waiter = nil } }
      defer { if actions.contains(where: \.endsContent) { state.content = nil } }
      return (actions, state.waiter, state.content, state.machine.hasHead)
    }
    for action in actions {
      switch action {
      case .resumeTask: task.resume()
      case .cancelTask: task.cancel()
      case .answer: if case .head(let head) = input, let content { waiter?.resume(returning: head.message(content)) }
      case .fail(let failure): waiter?.resume(throwing: error(failure, input, hasHead: hasHead))
      case .deliver: if case .piece(let piece) = input { content?.push(piece) }
      case .finishContent: content?.finish()
      case .failContent(let failure): content?.finish(throwing: error(failure, input, hasHead: hasHead))
      case .refuseRedirect: if case .redirect(let refuse) = input { refuse() }
      case .forget: session.forget(task)
      }
    }
  }

  private func channel() -> ContentChannel {
    ContentChannel(onCancel: { [weak self] in self?.cancel() })
  }

  private func error(_ failure: ExchangeState.Failure, _ input: Input, hasHead: Bool) -> any Error {
    var platformError: (any Error)?
    if case .error(let error) = input { platformError = error }
    return failure.error(platformError, hasHead: hasHead, contentLimit: context.contentLimit)
  }
}

extension ExchangeState.Action {
  fileprivate var answersWaiter: Bool {
    switch self {
    case .answer, .fail: true
    default: false
    }
  }

  fileprivate var endsContent: Bool {
    switch self {
    case .finishContent, .failContent: true
    default: false
    }
  }
}

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
final class Exchange: DeadlineTarget {
  typealias Waiter = CheckedContinuation<ResponseMessage, any Error>

  private struct State {
    var machine: ExchangeState
    var waiter: Waiter?
    /// Content of an answer that is handed over at its head.
    var channel: ContentChannel?
    /// Head and content of an answer that is handed over when it is complete.
    var answer = CollectedAnswer()
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
  private let context: ExchangeContext
  private let state: Mutex<State>

  init(task: URLSessionTask, session: OpenSession, request: PreparedRequest, context: ExchangeContext) {
    self.task = task
    self.session = session
    self.request = request
    self.context = context
    state = Mutex(State(machine: ExchangeState(isBuffered: context.delivery == .buffered)))
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

  /// The time of the attempt is up.
  func deadlinePassed() {
    perform { state in
      let hasSentAll = state.hasSentAll
      return state.machine.attemptEnded(hasSentAll: hasSentAll)
    }
  }

  /// The content to send cannot be completed.
  private func contentFailed(_ error: any Error) {
    perform(.error(error)) { $0.machine.end(.tornContent) }
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
    if context.collects(head.response), let length = head.contentLength, length > Int64(context.contentLimit) {
      return end(.contentTooLarge)
    }
    arrived(head)
  }

  private func arrived(_ head: ResponseHead) {
    let isFollowed = context.follows(head.response)
    perform(.head(head)) { state in
      state.answer.head = head
      return state.machine.headArrived(isFollowed: isFollowed)
    }
  }

  func receive(_ data: Data) {
    perform(.piece(data)) { state in
      let fits = !state.machine.isBuffered || state.answer.append(data, upTo: context.contentLimit)
      return state.machine.pieceArrived(fits: fits)
    }
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
      if !state.withLock({ $0.machine.hasHead }) { arrived(head) }
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
    let (actions, taken) = state.withLock { state in
      let actions = step(&state)
      if !state.machine.isBuffered, actions.contains(.answer) { state.channel = makeChannel() }
      defer { if actions.contains(where: \.answersWaiter) { (state.waiter, state.answer.content) = (nil, Data()) } }
      defer { if actions.contains(where: \.endsContent) { state.channel = nil } }
      return (actions, state)
    }
    for action in actions {
      switch action {
      case .resumeTask:
        request.outgoing.stream?.start(in: context) { [weak self] error in self?.contentFailed(error) }
        task.resume()
      case .cancelTask:
        // Stopping a task waits for the session's thread, which may be waiting for content.
        request.outgoing.stream?.stop()
        task.cancel()
      case .reportHead: if case .head(let head) = input { context.headArrived(head.response) }
      case .reportPiece: if case .piece(let piece) = input { context.received(piece.count) }
      case .answer: if let message = taken.answer.message(taken.channel) { taken.waiter?.resume(returning: message) }
      case .fail(let failure): taken.waiter?.resume(throwing: error(failure, input, hasHead: taken.machine.hasHead))
      case .deliver: if case .piece(let piece) = input { taken.channel?.push(piece) }
      case .finishContent: taken.channel?.finish()
      case .failContent(let failure):
        taken.channel?.finish(throwing: error(failure, input, hasHead: taken.machine.hasHead))
      case .refuseRedirect: if case .redirect(let refuse) = input { refuse() }
      case .forget:
        request.outgoing.stream?.stop()
        session.forget(task)
      }
    }
  }

  private func makeChannel() -> ContentChannel {
    ContentChannel(onCancel: { [weak self] in self?.cancel() })
  }

  private func error(_ failure: ExchangeState.Failure, _ input: Input, hasHead: Bool) -> any Error {
    var platformError: (any Error)?
    if case .error(let error) = input { platformError = error }
    return failure.error(platformError, hasHead: hasHead, contentLimit: context.contentLimit)
  }
}

/// An answer as far as it has arrived.
private struct CollectedAnswer {
  var head: ResponseHead?
  var content = Data()

  /// Adds a piece, unless that makes more than `limit` bytes; answers whether it was added.
  mutating func append(_ piece: Data, upTo limit: Int) -> Bool {
    guard content.count + piece.count <= limit else { return false }
    // The usual answer is one piece, which is not copied.
    if content.isEmpty { content = piece } else { content.append(piece) }
    return true
  }

  /// The message; its content arrives through `channel`, or is what was collected.
  func message(_ channel: ContentChannel?) -> ResponseMessage? {
    guard let head else { return nil }
    return channel.map { head.message($0) }
      ?? ResponseMessage(
        head: head.response, content: ResponseContent(collected: content))
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

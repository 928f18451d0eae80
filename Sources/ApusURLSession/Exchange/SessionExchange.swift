import ApusCore
import Foundation
import HTTPTypes
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One exchange between a task of the session and the caller. Performs the actions of ``SessionExchangeState``.
///
/// The platform's own asynchronous functions are not used: the caller is resumed here and the task cancelled
/// afterwards, because on Linux a cancelled task does not always report its end.
final class SessionExchange: DeadlineTarget {
  typealias Waiter = CheckedContinuation<ResponseMessage, any Error>

  private struct State {
    var machine: SessionExchangeState
    var waiter: Waiter?
    /// The channel for the content of a response that is delivered at its head.
    var channel: ContentChannel?
    /// The head and content of a response that is delivered when complete.
    var response = CollectedResponse()
    /// The number of sent content bytes that the session has reported.
    var sent: Int64 = 0
    var hasSentAll = false
  }

  /// The value of an event.
  private enum Input {
    case nothing
    case head(ResponseHead)
    case piece(Data)
    case error((any Error)?)
    case redirect(() -> Void)
  }

  private let task: URLSessionTask
  private let owner: any ExchangeOwner
  private let request: PlatformRequest
  private let context: ExchangeContext
  private let state: Mutex<State>

  init(task: URLSessionTask, owner: any ExchangeOwner, request: PlatformRequest, context: ExchangeContext) {
    self.task = task
    self.owner = owner
    self.request = request
    self.context = context
    state = Mutex(State(machine: SessionExchangeState(isBuffered: context.delivery == .buffered)))
  }

  // MARK: From the caller

  /// Begins the exchange; the waiter is resumed exactly once.
  func begin(_ waiter: Waiter) {
    perform { state in
      state.waiter = waiter
      return state.machine.start()
    }
  }

  func cancel() {
    end(.cancelled)
  }

  func end(_ failure: SessionExchangeState.Failure) {
    perform { $0.machine.end(failure) }
  }

  /// Ends the attempt, unless the head of the response has arrived.
  func deadlinePassed() {
    perform { state in
      let hasSentAll = state.hasSentAll
      return state.machine.attemptEnded(hasSentAll: hasSentAll)
    }
  }

  /// Ends the exchange because its content cannot be completed.
  private func contentFailed(_ error: any Error) {
    perform(.error(error)) { $0.machine.end(.truncatedContent) }
  }

  // MARK: From the session

  func sent(_ total: Int64, expected: Int64) {
    let expected = expected > 0 ? expected : request.contentLength
    context.reportSent(total: total, expected: expected)
    state.withLock { $0.sent = total }
    if request.outgoing.isSent(total) { recordSent() }
  }

  func receive(_ response: URLResponse) {
    guard let head = ResponseHead(response, to: request) else { return end(.malformed) }
    if head.isInterim { return }
    let sent = state.withLock { $0.sent }
    if request.outgoing.isSent(sent) { recordSent() } else { context.record(.note(.earlyResponse, sent)) }
    if context.collectsContent(of: head.response), let length = head.contentLength, length > Int64(context.contentLimit)
    {
      return end(.contentTooLarge)
    }
    arrived(head)
  }

  private func arrived(_ head: ResponseHead) {
    owner.responded(request.origin)
    let isFollowed = context.followsRedirect(head.response)
    perform(.head(head)) { state in
      state.response.head = head
      return state.machine.headArrived(isFollowed: isFollowed)
    }
  }

  func receive(_ data: Data) {
    perform(.piece(data)) { state in
      let fits = !state.machine.isBuffered || state.response.append(data, upTo: context.contentLimit)
      return state.machine.pieceArrived(fits: fits)
    }
  }

  /// Takes the version of HTTP. Metrics arrive after all content, so that only collected responses have a version.
  func measured(_ metrics: URLSessionTaskMetrics) {
    guard let name = metrics.transactionMetrics.last?.networkProtocolName else { return }
    state.withLock { $0.response.protocolVersion = HTTPVersion(networkProtocolName: name) }
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
      // Skipped if the head was reported before.
      if !state.withLock({ $0.machine.hasHead }) { arrived(head) }
    }
    let isCancellation = (error as? URLError)?.code == .cancelled
    perform(.error(error)) { state in
      let isSuccess = state.response.head?.response.status.kind == .successful
      return state.machine.taskEnded(
        withError: error != nil, isCancellation: isCancellation,
        isIncomplete: isSuccess && !request.outgoing.isSent(state.sent))
    }
  }

  private func recordSent() {
    let isFirst = state.withLock { state in
      defer { state.hasSentAll = true }
      return !state.hasSentAll
    }
    if isFirst { context.record(.requestSent) }
  }

  // MARK: Performing

  private func perform(_ input: Input = .nothing, _ step: (inout State) -> [SessionExchangeState.Action]) {
    // The waiter and the channel are removed under the lock, and used outside of it.
    let (actions, taken) = state.withLock { state in
      let actions = step(&state)
      if !state.machine.isBuffered, actions.contains(.deliverResponse) { state.channel = makeChannel() }
      defer { if actions.contains(where: \.resumesWaiter) { (state.waiter, state.response.content) = (nil, Data()) } }
      defer { if actions.contains(where: \.endsContent) { state.channel = nil } }
      return (actions, state)
    }
    for action in actions {
      switch action {
      case .resumeTask:
        request.outgoing.stream?.start(in: context) { [weak self] error in self?.contentFailed(error) }
        task.resume()
      case .cancelTask:
        // Cancelling a task waits for the session's thread, which may be waiting for content.
        request.outgoing.stream?.stop()
        task.cancel()
      case .reportHead: if case .head(let head) = input { context.reportHead(head.response) }
      case .reportPiece: if case .piece(let piece) = input { context.reportReceived(piece.count) }
      case .deliverResponse:
        if let message = taken.response.message(taken.channel) { taken.waiter?.resume(returning: message) }
      case .fail(let failure): taken.waiter?.resume(throwing: error(failure, input, taken))
      case .deliverPiece: if case .piece(let piece) = input { taken.channel?.push(piece) }
      case .finishContent: taken.channel?.finish()
      case .failContent(let failure):
        taken.channel?.finish(throwing: error(failure, input, taken))
      case .refuseRedirect: if case .redirect(let refuse) = input { refuse() }
      case .forget:
        request.outgoing.stream?.stop()
        owner.forget(task)
      }
    }
  }

  private func makeChannel() -> ContentChannel {
    ContentChannel(onCancel: { [weak self] in self?.cancel() })
  }

  private func error(_ failure: SessionExchangeState.Failure, _ input: Input, _ state: State) -> any Error {
    var platformError: (any Error)?
    if case .error(let error) = input { platformError = error }
    if case .incompleteRequest = failure, let head = state.response.head {
      let content = ResponseContent(Data(state.response.content.prefix(CallError.contentLimit)))
      return TransportError.incompleteRequest(
        head.message(content), sent: state.sent, of: request.contentLength,
        platformError == nil ? "the platform stopped sending" : "the connection closed")
    }
    let error = failure.error(
      platformError, hasHead: state.machine.hasHead, contentLimit: context.contentLimit)
    guard case .platform = failure, var error = error as? TransportError, error.requestState == .notSent,
      !request.needsOwnConnection, owner.mayReuseConnection(to: request.origin)
    else { return error }
    // The platform resends a request by itself if a reused connection turns out to be closed, and then reports only the
    // failure of the new connection.
    error.requestState = .maybeSent
    return error
  }
}

/// The session of an exchange, notified when the exchange is over.
protocol ExchangeOwner: AnyObject, Sendable {
  /// Removes the exchange of a task: no further event arrives.
  func forget(_ task: URLSessionTask)
  /// Records that an origin has responded, so that later exchanges may reuse its connection.
  func responded(_ origin: Origin)
  /// Whether an exchange with an origin may have begun on a connection of an earlier exchange.
  func mayReuseConnection(to origin: Origin) -> Bool
}

/// The part of a response that has arrived.
private struct CollectedResponse {
  var head: ResponseHead?
  var protocolVersion: HTTPVersion?
  var content = Data()

  /// Appends a piece. Returns `false` and appends nothing if that would exceed `limit` bytes.
  mutating func append(_ piece: Data, upTo limit: Int) -> Bool {
    guard content.count + piece.count <= limit else { return false }
    // The first piece is not copied: most responses have only one piece.
    if content.isEmpty { content = piece } else { content.append(piece) }
    return true
  }

  /// Returns the message. Its content arrives through `channel`, or has been collected.
  func message(_ channel: ContentChannel?) -> ResponseMessage? {
    guard let head else { return nil }
    var message = channel.map { head.message($0) } ?? head.message(ResponseContent(collected: content))
    message.protocolVersion = protocolVersion
    return message
  }
}

extension SessionExchangeState.Action {
  fileprivate var resumesWaiter: Bool {
    switch self {
    case .deliverResponse, .fail: true
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

extension SessionExchangeState.Failure {
  /// Returns the error for the caller.
  ///
  /// - Parameters:
  ///   - platformError: the error that the session reported; `nil` if it reported no error.
  ///   - hasHead: whether the head of the response had arrived.
  ///   - contentLimit: the limit on content, for the detail of the error if the content exceeded the limit.
  func error(_ platformError: (any Error)?, hasHead: Bool, contentLimit: Int) -> any Error {
    let state = hasHead ? RequestState.responded : .maybeSent
    switch self {
    case .cancelled:
      return CancellationError()
    case .shutDown:
      return TransportError(.connectionLost, requestState: state, detail: "the transport was shut down")
    case .malformed:
      return TransportError(.malformedResponse, requestState: .responded, detail: "the response is not HTTP")
    case .headless:
      return TransportError(.malformedResponse, requestState: .maybeSent, detail: "the response has no head")
    case .contentTooLarge:
      return TransportError.contentTooLarge(limit: contentLimit)
    case .incompleteRequest:
      return TransportError(.connectionLost, requestState: .responded, detail: "the content was not sent completely")
    case .truncatedContent:
      if let error = platformError as? TransportError { return error.attributed(to: .content) }
      return TransportError(
        .connectionLost, requestState: state, detail: "the content to send could not be produced",
        underlying: platformError
      ).attributed(to: .content)
    case .attemptOver(let phase, let requestState):
      return TransportError.attemptTimedOut(in: phase, requestState: requestState)
    case .untrusted(let reason):
      return TransportError(.tls, requestState: .notSent, detail: reason)
    case .platform:
      guard let platformError else { return TransportError(.connectionLost, requestState: state) }
      return TransportError(platformError, hasHead: hasHead)
    }
  }
}

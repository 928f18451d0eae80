import Apus
import Foundation
import Synchronization

/// One exchange with a handler. It waits for the response head, and ends earlier when the task is cancelled or the
/// deadline of the attempt passes, whether or not the handler notices.
final class InProcessExchange: DeadlineTarget {
  private struct State {
    /// The caller, resumed with the response, or with the error of an exchange that ended before the head.
    var waiter: CheckedContinuation<ResponseMessage, any Error>?
    /// The task of the handler, until the exchange ends.
    var work: Task<Void, Never>?
    var isSent = false
    var hasHead = false
    /// The error of an exchange that ended early.
    var ending: (any Error)?

    /// Ends the exchange. Returns the caller to resume and the task to cancel.
    mutating func end(
      _ error: any Error, onlyBeforeHead: Bool
    ) -> (waiter: CheckedContinuation<ResponseMessage, any Error>?, work: Task<Void, Never>?) {
      if onlyBeforeHead, hasHead { return (nil, nil) }
      defer { (waiter, work, ending) = (nil, nil, ending ?? error) }
      return (waiter, work)
    }
  }

  private let request: RequestMessage
  private let context: ExchangeContext
  private let handler: InProcessTransport.Handler
  private let state = Mutex(State())

  init(_ request: RequestMessage, _ context: ExchangeContext, _ handler: @escaping InProcessTransport.Handler) {
    (self.request, self.context, self.handler) = (request, context, handler)
  }

  /// Performs the exchange. Returns when the handler has returned its response.
  func response() async throws -> ResponseMessage {
    let alarm = context.alarm(for: self)
    defer { alarm?.cancel() }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { start(resuming: $0) }
    } onCancel: {
      end(throwing: CancellationError())
    }
  }

  /// Ends the exchange unless the head has arrived; the deadline of an attempt does not include the content.
  func deadlinePassed() {
    let isSent = state.withLock { $0.isSent }
    let phase = isSent ? CallPhase.awaitingHead : .connecting
    let error = TransportError.attemptTimedOut(in: phase, requestState: isSent ? .maybeSent : .notSent)
    end(throwing: error, onlyBeforeHead: true)
  }

  private func start(resuming waiter: CheckedContinuation<ResponseMessage, any Error>) {
    let ending = state.withLock { state in
      if state.ending == nil { state.waiter = waiter }
      return state.ending
    }
    // The task was cancelled before this function was called.
    if let ending { return waiter.resume(throwing: ending) }
    let work = context.spawn { await self.perform() }
    let isOver = state.withLock { state in
      if state.ending == nil { state.work = work }
      return state.ending != nil
    }
    if isOver { work.cancel() }
  }

  /// Ends the exchange early: cancels the handler and, if the caller still waits for the head, throws an error to it.
  private func end(throwing error: any Error, onlyBeforeHead: Bool = false) {
    let (waiter, work) = state.withLock { $0.end(error, onlyBeforeHead: onlyBeforeHead) }
    work?.cancel()
    waiter?.resume(throwing: error)
  }

  // MARK: In the task of the handler

  private func perform() async {
    do {
      let content = try await collectedContent()
      context.record(.requestSent)
      state.withLock { $0.isSent = true }
      let response = try await handler(HandlerRequest(head: announcedHead, content: content))
      context.record(.firstByteArrived)
      await deliver(response)
    } catch {
      end(throwing: error as? TransportError ?? .lost(.maybeSent, "the handler failed", error))
    }
  }

  private func deliver(_ response: HandlerResponse) async {
    // RFC 9110 §6.4.1: these responses have no content, whatever the handler returns.
    let hasNoContent = request.head.method == .head || [204, 304].contains(response.head.status.code)
    switch response.content {
    case _ where hasNoContent: resume(with: ResponseMessage(head: response.head))
    case .bytes(let bytes): resume(with: ResponseMessage(head: response.head, content: ResponseContent(bytes)))
    case .pieces(let pieces): await deliverPieces(of: response, pieces)
    }
  }

  private func deliverPieces(of response: HandlerResponse, _ pieces: ContentStream.Pieces) async {
    let (demand, demands) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let channel = ContentChannel(
      onDemand: { demands.yield() }, onCancel: { [weak self] in self?.end(throwing: CancellationError()) })
    let length = response.head.headerFields[.contentLength].flatMap { Int64($0) }
    resume(
      with: ResponseMessage(
        head: response.head, content: ResponseContent(source: channel, expectedLength: length)))
    do {
      var resumptions = demand.makeAsyncIterator()
      var count: Int64 = 0
      while let piece = try await pieces() {
        count += Int64(piece.count)
        if !channel.push(piece) { await resumptions.next() }
        try Task.checkCancellation()
      }
      if let length, count != length { throw HandlerFault(text: "its content has \(count) bytes, not \(length)") }
      channel.finish(trailers: response.trailers)
    } catch {
      channel.finish(throwing: TransportError.lost(.responded, "the handler broke off its content", error))
    }
  }

  private func resume(with response: ResponseMessage) {
    let waiter = state.withLock { state in
      state.hasHead = true
      defer { state.waiter = nil }
      return state.waiter
    }
    if let waiter { waiter.resume(returning: response) } else { response.discard() }
  }
}

// MARK: - The content of the request

extension InProcessExchange {
  /// The request's head with the length of the content, if it is known.
  private var announcedHead: HTTPRequest {
    var head = request.head
    if !request.content.isEmpty, let length = request.content.length {
      head.headerFields[.contentLength] = String(length)
    }
    return head
  }

  /// Collects the content. If that fails, no part of the request has been sent.
  private func collectedContent() async throws -> Data {
    do {
      var bytes = Data()
      try await append(request.content, to: &bytes)
      return bytes
    } catch {
      var failure = TransportError(
        .invalidRequest, requestState: .notSent, detail: "the content could not be read", underlying: error)
      failure.source = .content
      throw failure
    }
  }

  private func append(_ content: MessageContent, to bytes: inout Data) async throws {
    let start = bytes.count
    switch content {
    case .empty: return
    case .bytes(let more): bytes.append(more)
    case .file(let file): bytes.append(try Data(contentsOf: URL(filePath: file.path)))
    case .stream(let stream):
      let next = try stream.makePieces()
      while let piece = try await next() {
        try Task.checkCancellation()
        bytes.append(piece)
        context.reportSent(total: Int64(bytes.count), expected: request.content.length)
      }
    default:
      // Kinds of content that later versions add are not supported.
      guard case .joined(let contents) = content else { throw HandlerFault(text: "the kind of content is unknown") }
      for content in contents { try await append(content, to: &bytes) }
    }
    let count = Int64(bytes.count - start)
    if let length = content.length, count != length { throw HandlerFault(text: "it has \(count) bytes, not \(length)") }
    context.reportSent(total: Int64(bytes.count), expected: request.content.length)
  }
}

/// A fault of content, as the cause of a `TransportError`.
private struct HandlerFault: Error, CustomStringConvertible {
  let text: String
  var description: String { text }
}

extension TransportError {
  fileprivate static func lost(_ state: RequestState, _ detail: String, _ error: any Error) -> TransportError {
    TransportError(.connectionLost, requestState: state, detail: detail, underlying: error)
  }
}

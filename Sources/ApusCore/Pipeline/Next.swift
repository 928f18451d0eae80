import HTTPTypes

/// The rest of the pipeline, seen from one middleware: may be called several times, also concurrently.
public struct Next: Sendable {
  let path: Path
  let index: Int

  /// Passes the message on to the next middleware, or to the transport after the last.
  public func callAsFunction(_ request: RequestMessage, context: CallContext) async throws -> ResponseMessage {
    guard index < path.middlewares.count else { return try await path.exchange(request, context) }
    return try await path.middlewares[index].intercept(
      request, context: context, next: Next(path: path, index: index + 1))
  }
}

extension RequestMessage {
  /// Whether it asks for a part of something and not for how that is to be coded.
  ///
  /// A part of something that is coded as a whole would be of no use, and without the field any coding is acceptable (RFC
  /// 9110 §12.5.3, §14.2).
  fileprivate var leavesRangeCoding: Bool {
    let fields = head.headerFields
    let range = HTTPField.Name.range
    return fields.contains { $0.name == range } && fields[.acceptEncoding] == nil
  }
}

/// The middlewares of a client and its transport: built once, walked by every call.
final class Path: Sendable {
  let middlewares: [any Middleware]
  let transport: any Transport

  init(middlewares: [any Middleware], transport: any Transport) {
    self.middlewares = middlewares
    self.transport = transport
  }

  /// The innermost step: one exchange, with its content in memory unless the call streams.
  func exchange(_ request: RequestMessage, _ context: CallContext) async throws -> ResponseMessage {
    if request.leavesRangeCoding { return try await exchangeUncoded(request, context) }
    let isRepeatable = context.isRepeatable(request.head)
    try begin(request, context)
    if context.delivery == .described { return ResponseMessage(head: HTTPResponse(status: .ok)) }
    let response: ResponseMessage
    do {
      response = try await transport.send(request, context: context)
    } catch {
      if !isRepeatable { failed(error, context) }
      throw error
    }
    // 401: the server asks who is calling, and has done nothing yet (RFC 9110 §15.5.2).
    if !isRepeatable, response.head.status != .unauthorized { context.call.sentUnrepeatable() }
    if !response.content.isCollected { context.headArrived(response.head) }
    guard context.collects(response.head), try !tookBytes(of: response.content, context) else { return response }
    return try await collected(response, context)
  }

  // MARK: Steps, none of them inlined: what it needs for a moment would be kept for as long as the exchange lasts.

  @inline(never)
  private func begin(_ request: RequestMessage, _ context: CallContext) throws {
    try context.checkCancellation()
    // What waited ahead of it may have taken all of its time.
    let now = context.now
    if let end = context.attemptDeadline, end <= now {
      throw TransportError.attemptTimedOut(in: .waiting, requestState: .notSent)
    }
    context.keep(request)
    if context.delivery != .described { context.call.record(.exchangeStarted, attempt: context.attempt, at: now) }
  }

  /// A part is asked for as it is, unless the request says otherwise.
  @inline(never)
  private func exchangeUncoded(_ request: RequestMessage, _ context: CallContext) async throws -> ResponseMessage {
    var request = request
    request.head.headerFields[.acceptEncoding] = "identity"
    return try await exchange(request, context)
  }

  @inline(never)
  private func failed(_ error: any Error, _ context: CallContext) {
    if (error as? TransportError)?.requestState != .notSent { context.call.sentUnrepeatable() }
  }

  /// Takes note of content that is in memory, with no step of its own for the task; `false`: it still arrives.
  @inline(never)
  private func tookBytes(of content: ResponseContent, _ context: CallContext) throws -> Bool {
    guard let count = try content.bytes(upTo: context.contentLimit)?.count else { return false }
    if !content.isCollected { context.call.received(count, isLast: true) }
    context.record(.contentArrived(length: Int64(count)))
    return true
  }

  /// The response with its content, which still arrives, in memory.
  @inline(never)
  private func collected(_ response: ResponseMessage, _ context: CallContext) async throws -> ResponseMessage {
    var response = response
    let data = try await response.content.collect(upTo: context.contentLimit) { context.received($0) }
    response.content = ResponseContent(data, trailers: response.content.trailers)
    context.record(.contentArrived(length: Int64(data.count)))
    return response
  }
}

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
  /// A request for a part of something, which asks for it as it is unless it says otherwise: a part of something that is
  /// coded as a whole would be of no use, and without the field any coding is acceptable (RFC 9110 §12.5.3, §14.2).
  fileprivate var acceptingUncodedRange: RequestMessage {
    let fields = head.headerFields
    let range = HTTPField.Name.range
    guard fields.contains(where: { $0.name == range }), fields[.acceptEncoding] == nil else { return self }
    var message = self
    message.head.headerFields[.acceptEncoding] = "identity"
    return message
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
    let request = request.acceptingUncodedRange
    try begin(request, context)
    if context.delivery == .described { return ResponseMessage(head: HTTPResponse(status: .ok)) }
    let response: ResponseMessage
    do {
      response = try await transport.send(request, context: context)
    } catch {
      if (error as? TransportError)?.requestState != .notSent { sent(request, context) }
      throw error
    }
    // 401: the server asks who is calling, and has done nothing yet (RFC 9110 §15.5.2).
    if response.head.status != .unauthorized { sent(request, context) }
    return try await collected(response, context)
  }

  private func sent(_ request: RequestMessage, _ context: CallContext) {
    if !context.isRepeatable(request.head) { context.call.sentUnrepeatable() }
  }

  @inline(never)  // What it needs for a moment would be kept for as long as the exchange lasts.
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

  /// The response with its content in memory, unless it is to be read as it comes.
  private func collected(_ response: ResponseMessage, _ context: CallContext) async throws -> ResponseMessage {
    var response = response
    if !response.content.isCollected { context.headArrived(response.head) }
    guard context.collects(response.head) else { return response }
    let content = response.content
    let data = try await content.collect(upTo: context.contentLimit) { count in
      if !content.isCollected { context.received(count) }
    }
    response.content = ResponseContent(data, trailers: content.trailers)
    context.record(.contentArrived(length: Int64(data.count)))
    return response
  }
}

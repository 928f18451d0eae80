import HTTPTypes

/// Wraps everything between the app's call and the transport.
///
/// A middleware may change the request, return a response without calling `next`, call `next` again (retry) or change
/// the response. It discards every response that it does not return. All calls of a client share its middlewares; what
/// belongs to one call is kept in that call's context.
public protocol Middleware: Sendable {
  /// Handles one pass of a call.
  ///
  /// - Parameters:
  ///   - request: the message as the outer middlewares left it.
  ///   - context: the call.
  ///   - next: the rest of the pipeline.
  /// - Throws: what `next` throws, or an error of its own, which reaches the app as a ``CallError``.
  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage
}

/// A middleware that many calls do not need; they skip it at the cost of one question.
protocol ConditionalMiddleware: Middleware {
  /// Whether the call has to pass this middleware.
  func isNeeded(for context: CallContext) -> Bool
}

/// The rest of the pipeline, seen from one middleware. It may be called several times, also concurrently.
public struct Next: Sendable {
  let path: Path
  let index: Int

  /// Passes the message on to the next middleware, or to the transport after the last.
  public func callAsFunction(_ request: RequestMessage, context: CallContext) async throws -> ResponseMessage {
    let index = path.firstNeeded(from: index, for: context)
    guard index < path.steps.count else { return try await path.exchange(request, context) }
    return try await path.steps[index].middleware.intercept(
      request, context: context, next: Next(path: path, index: index + 1))
  }
}

/// The middlewares of a client and its transport. Built once; every call takes it.
final class Path: CallRoute {
  // A type of its own: of a tuple, both references would be copied at each access.
  struct Step: Sendable {
    let middleware: any Middleware
    let condition: (any ConditionalMiddleware)?
  }

  let pipeline: Pipeline
  let steps: [Step]
  let transport: any Transport

  init(_ pipeline: Pipeline, transport: any Transport) {
    self.pipeline = pipeline
    self.transport = transport
    steps = pipeline.middlewares.map { Step(middleware: $0, condition: $0 as? any ConditionalMiddleware) }
  }

  var reportsConnections: Bool { transport.reportsConnections }

  /// The index of the next middleware that a call has to pass.
  func firstNeeded(from index: Int, for context: CallContext) -> Int {
    var index = index
    while index < steps.count, let condition = steps[index].condition, !condition.isNeeded(for: context) { index += 1 }
    return index
  }

  /// The innermost step: one exchange, with its content in memory unless the call streams.
  @inline(never)  // Merged into every middleware's `next`, it would enlarge the frames of all of them.
  func exchange(_ request: RequestMessage, _ context: CallContext) async throws -> ResponseMessage {
    if request.leavesRangeCoding { return try await exchangeUncoded(request, context) }
    let isRepeatable = context.isRepeatable(request.head)
    try begin(request, context)
    if context.delivery == .described { return ResponseMessage(head: HTTPResponse(status: .ok)) }
    let exchange = ExchangeContext(context)
    let response: ResponseMessage
    do {
      response = try await transport.send(request, context: exchange)
    } catch {
      if !isRepeatable { failed(error, context) }
      throw error
    }
    // With 401 the server asks for credentials and has not acted on the request (RFC 9110 §15.5.2).
    if !isRepeatable, response.head.status != .unauthorized { context.base.sentUnrepeatable() }
    if !response.content.isCollected { exchange.headArrived(response.head) }
    guard exchange.collects(response.head), try !tookBytes(of: response.content, context) else { return response }
    return try await collected(response, exchange)
  }

  // MARK: Steps. None is inlined: their temporaries would be kept for as long as the exchange lasts.

  @inline(never)
  private func begin(_ request: RequestMessage, _ context: CallContext) throws {
    try context.checkCancellation()
    // Waiting in the pipeline may have used up the attempt's time.
    let now = context.now
    if let end = context.attemptDeadline, end <= now {
      throw TransportError.attemptTimedOut(in: .waiting, requestState: .notSent)
    }
    context.base.keep(request)
    if context.delivery != .described { context.base.record(.exchangeStarted, attempt: context.attempt, at: now) }
  }

  /// Asks for a range without content coding, unless the request says otherwise.
  @inline(never)
  private func exchangeUncoded(_ request: RequestMessage, _ context: CallContext) async throws -> ResponseMessage {
    var request = request
    request.head.headerFields[.acceptEncoding] = "identity"
    return try await exchange(request, context)
  }

  @inline(never)
  private func failed(_ error: any Error, _ context: CallContext) {
    if (error as? TransportError)?.requestState != .notSent { context.base.sentUnrepeatable() }
  }

  /// Records content that is in memory, without suspending; returns `false` if it still arrives.
  @inline(never)
  private func tookBytes(of content: ResponseContent, _ context: CallContext) throws -> Bool {
    guard let count = try content.bytes(upTo: context.contentLimit)?.count else { return false }
    if !content.isCollected { context.base.received(count, isLast: true) }
    context.record(.contentArrived(length: Int64(count)))
    return true
  }

  /// Reads content that still arrives into memory.
  @inline(never)
  private func collected(_ response: ResponseMessage, _ context: ExchangeContext) async throws -> ResponseMessage {
    var response = response
    let data = try await response.content.collect(upTo: context.contentLimit) { context.received($0) }
    response.content = ResponseContent(data, trailers: response.content.trailers)
    context.record(.contentArrived(length: Int64(data.count)))
    return response
  }
}

extension RequestMessage {
  /// Whether the request asks for a range and accepts any content coding.
  ///
  /// A range of a coded representation cannot be decoded, and without `Accept-Encoding` any coding is acceptable (RFC 9110
  /// §12.5.3, §14.2).
  fileprivate var leavesRangeCoding: Bool {
    let fields = head.headerFields
    let range = HTTPField.Name.range
    return fields.contains { $0.name == range } && fields[.acceptEncoding] == nil
  }
}

import HTTPTypes

/// The rest of the pipeline after a middleware. It may be called several times, including concurrently.
public struct Next: Sendable {
  let pipeline: CompiledPipeline
  let index: Int

  /// Passes the message to the next middleware, or to the transport after the last middleware.
  public func callAsFunction(_ request: RequestMessage, context: CallContext) async throws -> ResponseMessage {
    let index = index < pipeline.conditionsEnd ? pipeline.firstNeeded(from: index, for: context) : index
    guard index < pipeline.steps.count else { return try await pipeline.exchange(request, context) }
    return try await pipeline.steps[index].intercept(
      request, context: context, next: Next(pipeline: pipeline, index: index + 1))
  }
}

/// The middlewares and the transport of a client, built once and used by every call.
final class CompiledPipeline: Sendable {
  let order: Pipeline
  // Two arrays, because reading a part of an element copies the element.
  let steps: [any Middleware]
  let audiences: [MiddlewareAudience]
  /// The index after the last middleware that calls may skip. All calls pass the middlewares from this index on.
  let conditionsEnd: Int
  /// The middlewares that only change the context, by index.
  private let preparations: [(any ContextMiddleware)?]
  /// The middleware that most calls skip, if there is one, and its index; else -1.
  let shortcut: (any ShortcutMiddleware)?
  let shortcutIndex: Int
  let transport: any Transport
  /// The transport, wrapped so that a clock that advances by itself stands still during an exchange; for other clocks
  /// the same as `transport`.
  private let exchangeTransport: any Transport

  /// - Parameter clock: the client's clock, if it advances by itself.
  init(_ pipeline: Pipeline, transport: any Transport, clock: (any SelfAdvancingClock)?) {
    order = pipeline
    self.transport = transport
    exchangeTransport = clock.map { StandingStillTransport(transport, $0) } ?? transport
    steps = pipeline.middlewares
    audiences = steps.map { ($0 as? any ConditionalMiddleware)?.audience ?? .allCalls }
    conditionsEnd = audiences.lastIndex { !$0.isEveryCall }.map { $0 + 1 } ?? 0
    preparations = steps.map { $0 as? any ContextMiddleware }
    shortcutIndex = steps.firstIndex { $0 is any ShortcutMiddleware } ?? -1
    shortcut = shortcutIndex < 0 ? nil : steps[shortcutIndex] as? any ShortcutMiddleware
  }

  /// Whether the transport reports connections (``Transport/reportsConnections``).
  var reportsConnections: Bool { transport.reportsConnections }
  /// The executor on which calls continue after their first suspension. `nil`: the global concurrent pool.
  var continuationExecutor: (any TaskExecutor)? { (transport as? any ContinuingTransport)?.continuationExecutor }

  /// Returns the context with which a call enters the pipeline, as changed by the first middlewares if they do nothing
  /// else, and the index of the next middleware that the call has to pass.
  @inline(never)
  func entering(with call: Call) throws -> (CallContext, Int) {
    var context = try CallContext.entering(with: call)
    var index = firstNeeded(from: 0, for: context)
    while index < preparations.count, let preparation = preparations[index] {
      try preparation.prepare(&context)
      index = firstNeeded(from: index + 1, for: context)
    }
    return (context, index)
  }

  /// Returns the index of the next middleware that a call has to pass.
  func firstNeeded(from index: Int, for context: CallContext) -> Int {
    var index = index
    while index < conditionsEnd, !Self.includes(context, audiences[index]) { index += 1 }
    return index
  }

  private static func includes(_ context: CallContext, _ audience: MiddlewareAudience) -> Bool {
    switch audience {
    case .allCalls: true
    case .callsWithCommonParameters: context.owner.prepared.hasCommonParameters
    case .callsWithPrincipal:
      context.owner.prepared.hasValues && context.environment.values.contains(CallBinderKey.self)
    case .callsThat(let isMember): isMember(context)
    case .coalescedCalls:
      context.owner.delivery == .buffered
        && (context.owner.joins || context.owner.coalesces || context.joinsValidation)
    }
  }

  /// Performs one exchange. Collects the content in memory unless the call streams.
  func exchange(_ request: RequestMessage, _ context: CallContext) async throws -> ResponseMessage {
    if request.needsIdentityCoding { return try await exchangeUncoded(request, context) }
    let isRepeatable = context.isRepeatable(request.head)
    try begin(request, context)
    if context.delivery == .described { return ResponseMessage(head: HTTPResponse(status: .ok)) }
    let exchange = ExchangeContext(context)
    let response: ResponseMessage
    do {
      response = try await exchangeTransport.send(request, context: exchange)
    } catch {
      if !isRepeatable { failed(error, context) }
      throw error
    }
    // Status 401 means that the server requires credentials and has not acted on the request (RFC 9110 §15.5.2).
    if !isRepeatable, response.statusCode != 401 { context.owner.sentUnrepeatable() }
    if !response.content.isCollected { exchange.reportHead(response.head) }
    guard exchange.collectsContent(of: response.head), try !tookBytes(of: response.content, context) else {
      return response
    }
    return try await collected(response, exchange, context.owner.callerClockHold)
  }

  // MARK: Steps

  @inline(never)
  private func begin(_ request: RequestMessage, _ context: CallContext) throws {
    try context.checkCancellation()
    try context.checkNamedURL()
    // Waiting in the pipeline may have used up the attempt's time.
    let now = context.now
    if let end = context.attemptDeadline, end <= now {
      throw TransportError.attemptTimedOut(in: .waiting, requestState: .notSent)
    }
    context.owner.setMessage(request)
    if context.delivery != .described { context.owner.record(.exchangeStarted, attempt: context.attempt, at: now) }
  }

  /// Requests a range without content coding.
  private func exchangeUncoded(_ request: RequestMessage, _ context: CallContext) async throws -> ResponseMessage {
    var request = request
    request.head.headerFields[.acceptEncoding] = "identity"
    return try await exchange(request, context)
  }

  private func failed(_ error: any Error, _ context: CallContext) {
    if (error as? TransportError)?.requestState != .notSent { context.owner.sentUnrepeatable() }
  }

  /// Records content that is in memory, without suspending. Returns `false` if the content is still arriving.
  @inline(never)
  private func tookBytes(of content: ResponseContent, _ context: CallContext) throws -> Bool {
    guard let count = try content.bytes(upTo: context.contentLimit)?.count else { return false }
    if !content.isCollected { context.owner.received(count, isLast: true) }
    context.record(.contentArrived(length: Int64(count)))
    return true
  }

  /// Reads arriving content into memory. Meanwhile a clock of a test stands still.
  @inline(never)
  private func collected(
    _ response: ResponseMessage, _ context: ExchangeContext, _ hold: CallerClockHold?
  ) async throws -> ResponseMessage {
    guard let hold else { return try await collected(response, context) }
    return try await hold.standStill { try await collected(response, context) }
  }

  private func collected(_ response: ResponseMessage, _ context: ExchangeContext) async throws -> ResponseMessage {
    var response = response
    let data = try await response.content.collect(upTo: context.contentLimit) { context.reportReceived($0) }
    response.content = ResponseContent(data, trailers: response.content.trailers)
    context.record(.contentArrived(length: Int64(data.count)))
    return response
  }
}

/// A transport that sends with another transport while a clock of a test stands still.
private struct StandingStillTransport: Transport {
  private let transport: any Transport
  private let clock: any SelfAdvancingClock

  init(_ transport: any Transport, _ clock: any SelfAdvancingClock) {
    self.transport = transport
    self.clock = clock
  }

  func send(_ request: RequestMessage, context: ExchangeContext) async throws -> ResponseMessage {
    try await clock.standStill { try await transport.send(request, context: context) }
  }
}

extension RequestMessage {
  /// Whether the request requests a range and accepts any content coding.
  ///
  /// A range of a coded representation cannot be decoded, and without `Accept-Encoding` any coding is acceptable
  /// (RFC 9110 §12.5.3, §14.2).
  fileprivate var needsIdentityCoding: Bool {
    head.headerFields.contains(.range) && !head.headerFields.contains(.acceptEncoding)
  }
}

extension MiddlewareAudience {
  fileprivate var isEveryCall: Bool { if case .allCalls = self { true } else { false } }
}

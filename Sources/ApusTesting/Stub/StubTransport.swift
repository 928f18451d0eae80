public import ApusCore
import ApusWaiting
import HTTPTypes

/// A transport that replies as a test specifies and records the requests.
///
/// ```swift
/// let stub = StubTransport()
/// stub.on(.get, "/users/7", reply: .json(#"{"id":7}"#))
/// let api = Client(environment: Environment(baseURL: "https://example.test"), transport: stub)
/// let user = try await api.send(.user(7))
/// #expect(stub.exchanges.map(\.target) == ["/users/7"])
/// ```
///
/// If several rules match, the newest rule is used, so a test can override its set-up. A call that no rule matches
/// fails with a `TransportError` that names the method and path as sent, and the rules. A stub is thread-safe.
///
/// The stub respects the deadline of an attempt (`ExchangeContext.attemptDeadline`), except that a closure that
/// returns a reply is not interrupted.
public final class StubTransport: Transport {
  /// The behavior of a rule whose replies are all used up.
  package enum Exhaustion: Sendable, Hashable {
    /// Repeats the last reply.
    case repeatLast
    /// Fails with a `TransportError` with the code `invalidRequest`.
    case fail
  }

  let monitor = Monitor(StubState())

  /// Creates a transport without rules.
  public init() {}

  /// Replies as the newest matching rule specifies.
  ///
  /// - Throws: `TransportError` if no rule matches or the rule's replies are used up; the error of a reply made by
  ///   ``StubReply/failure(_:)``; `CancellationError` as soon as the task is cancelled.
  public func send(_ request: RequestMessage, context: ExchangeContext) async throws -> ResponseMessage {
    try Task.checkCancellation()
    guard context.delivery != .described else {
      throw TransportError(.invalidRequest, requestState: .notSent, detail: "the call only describes its message")
    }
    let number = monitor.update { $0.begin(request, context) }
    do {
      return try await respond(to: request, number, context)
    } catch {
      monitor.update { $0.fail(number, error) }
      throw error
    }
  }

  private func respond(to request: RequestMessage, _ number: Int, _ context: ExchangeContext) async throws
    -> ResponseMessage
  {
    let content = try await request.content.collected {
      context.reportSent(total: $0, expected: request.content.length)
    }
    let exchange = monitor.read { $0.exchange(number, with: content) }
    guard let rule = monitor.read(\.rules).last(where: { $0.matches(exchange.request, context) }) else {
      monitor.update {
        $0.complete(exchange)
        $0.end(number, .unmatched)
      }
      throw refusal("no reply is stubbed for", exchange, "; \(monitor.read(\.stubbed))")
    }
    context.record(.requestSent)
    // The last step, so that a test that waits for the exchange finds the call waiting for the response.
    monitor.update { $0.complete(exchange) }
    let reply: StubReply
    switch rule.script {
    case .made(let make):
      reply = try await make(exchange)
    case .listed(let replies, let exhaustion):
      guard let next = monitor.update({ $0.next(of: rule.id, replies, exhaustion) }) else {
        throw refusal("the stubbed replies are used up for", exchange, " (\(rule.name))")
      }
      reply = next
    }
    return try await perform(reply, number, context)
  }

  private func perform(_ reply: StubReply, _ number: Int, _ context: ExchangeContext) async throws -> ResponseMessage {
    do {
      try await StubAttempt.perform(reply.opening, in: context)
    } catch is StubAttempt.DeadlinePassed {
      monitor.update { $0.end(number, .cancelled) }
      throw TransportError.attemptTimedOut(in: .awaitingHead, requestState: .maybeSent)
    }
    try Task.checkCancellation()
    let hasContent = monitor.update { $0.recordReply(number, reply.head.status.code) }
    guard hasContent else {
      monitor.update { $0.end(number, .replied) }
      return ResponseMessage(head: reply.head)
    }
    if context.collectsContent(of: reply.head), let bytes = reply.bytes {
      monitor.update { $0.end(number, .replied) }
      return ResponseMessage(head: reply.head, content: ResponseContent(bytes, trailers: reply.trailers))
    }
    let content = ResponseContent(
      source: StubContentSource(reply, clock: context.clock), expectedLength: reply.announcedLength)
    content.onEnd { [monitor] end in
      monitor.update { state in
        switch end {
        case .finished: state.end(number, .replied)
        case .failed(let error): state.fail(number, error)
        case .discarded: state.end(number, .cancelled)
        }
      }
    }
    return ResponseMessage(head: reply.head, content: content)
  }

  /// Returns an error that names the request as sent, including the base URL's path, as rules match it. Query values
  /// are masked because the error may be logged.
  private func refusal(_ reason: String, _ exchange: StubExchange, _ rest: String) -> TransportError {
    let target = "\(exchange.method.rawValue) \(Redaction().target(exchange.target))"
    return TransportError(.invalidRequest, requestState: .notSent, detail: "\(reason) \(target)\(rest)")
  }
}

extension StubTransport {
  /// All exchanges, in the order in which they started.
  public var exchanges: [StubExchange] { monitor.read(\.exchanges) }

  /// The exchanges in flight.
  package var openExchanges: [StubExchange] { exchanges.filter { $0.outcome == .inFlight } }

  /// Waits until at least `count` requests were sent completely, and returns all exchanges.
  ///
  /// - Throws: `CancellationError` if the task is cancelled.
  @discardableResult
  public func waitForExchanges(_ count: Int) async throws -> [StubExchange] {
    try await wait { $0.count { $0.isRequestComplete || $0.outcome != .inFlight } >= count }
  }

  /// Waits until no exchange is in flight, and returns all exchanges.
  ///
  /// - Throws: `CancellationError` if the task is cancelled.
  @discardableResult
  public func waitUntilIdle() async throws -> [StubExchange] {
    try await wait { $0.allSatisfy { $0.outcome != .inFlight } }
  }

  /// Waits until the exchanges satisfy a condition, evaluated after every change, and returns them.
  ///
  /// - Throws: `CancellationError` if the task is cancelled.
  @discardableResult
  public func wait(
    until condition: @escaping @Sendable ([StubExchange]) -> Bool
  ) async throws -> [StubExchange] {
    try await monitor.first { condition($0.exchanges) ? $0.exchanges : nil }
  }
}

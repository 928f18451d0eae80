public import ApusCore
import HTTPTypes

/// A transport that answers as a test tells it, and records what it was sent.
///
/// ```swift
/// let stub = StubTransport()
/// stub.on(.get, "/users/7", answer: .json(#"{"id":7}"#))
/// let api = Client(environment: Environment(baseURL: "https://example.test"), transport: stub)
/// let user = try await api.send(.user(7))
/// #expect(stub.exchanges.map(\.target) == ["/users/7"])
/// ```
///
/// Of several rules that match, the one added last counts, so that a test can replace what its set-up said. A call
/// that no rule matches fails with a ``TransportError`` that names its method and path as sent, and what is stubbed.
/// Calls and tests may use a stub from any thread.
///
/// It keeps the limit of an attempt (`ExchangeContext.attemptDeadline`); a function that makes an answer is not
/// interrupted, its answer then comes too late.
public final class StubTransport: Transport {
  /// What a rule answers when all its answers are used up.
  public enum Afterwards: Sendable, Hashable {
    /// The last answer again.
    case repeatLast
    /// A ``TransportError`` of kind `unsupported`.
    case refuse
  }

  let watched = Watched(StubState())

  /// Makes a transport without rules.
  public init() {}

  /// Answers by the newest rule that matches.
  ///
  /// - Throws: ``TransportError`` when no rule matches, or a rule's answers are used up; the error that an answer
  ///   is made of; `CancellationError` as soon as the task is cancelled.
  public func send(_ request: RequestMessage, context: ExchangeContext) async throws -> ResponseMessage {
    try Task.checkCancellation()
    guard context.delivery != .described else {
      throw TransportError(.unsupported, requestState: .notSent, detail: "the message is only to be described")
    }
    let number = watched.update { $0.begin(request, context) }
    do {
      return try await respond(to: request, number, context)
    } catch {
      watched.update { $0.fail(number, error) }
      throw error
    }
  }

  private func respond(to request: RequestMessage, _ number: Int, _ context: ExchangeContext) async throws
    -> ResponseMessage
  {
    let content = try await request.content.collected { context.sent(total: $0, expected: request.content.length) }
    let exchange = watched.read { $0.exchange(number, with: content) }
    guard let rule = watched.read(\.rules).last(where: { $0.matches(exchange.request, context) }) else {
      watched.update {
        $0.complete(exchange)
        $0.end(number, .unmatched)
      }
      throw refusal("no answer is stubbed for", exchange, "; \(watched.read(\.stubbed))")
    }
    context.record(.requestSent)
    // After that: whoever waits for the exchange finds its call waiting for the answer.
    watched.update { $0.complete(exchange) }
    let answer: StubAnswer
    switch rule.script {
    case .made(let make):
      answer = try await make(exchange)
    case .listed(let answers, let afterwards):
      guard let next = watched.update({ $0.next(of: rule.id, answers, afterwards) }) else {
        throw refusal("the stubbed answers are used up for", exchange, " (\(rule.name))")
      }
      answer = next
    }
    return try await perform(answer, number, context)
  }

  private func perform(_ answer: StubAnswer, _ number: Int, _ context: ExchangeContext) async throws -> ResponseMessage
  {
    do {
      try await StubLimit.perform(answer.opening, in: context)
    } catch is StubLimit.Passed {
      watched.update { $0.end(number, .cancelled) }
      throw TransportError.attemptTimedOut(in: .awaitingHead, requestState: .maybeSent)
    }
    try Task.checkCancellation()
    let hasContent = watched.update { $0.answer(number, answer.head.status.code) }
    guard hasContent else {
      watched.update { $0.end(number, .answered) }
      return ResponseMessage(head: answer.head)
    }
    if context.collects(answer.head), let bytes = answer.bytes {
      watched.update { $0.end(number, .answered) }
      return ResponseMessage(head: answer.head, content: ResponseContent(bytes, trailers: answer.trailers))
    }
    let content = ResponseContent(
      source: StubContentSource(answer, clock: context.clock), expectedLength: answer.announcedLength)
    content.onEnd { [watched] end in
      watched.update { state in
        switch end {
        case .finished: state.end(number, .answered)
        case .failed(let error): state.fail(number, error)
        case .discarded: state.end(number, .cancelled)
        }
      }
    }
    return ResponseMessage(head: answer.head, content: content)
  }

  /// Names the request as it was sent, the base URL's path included, which rules are compared with. Values of its query
  /// are masked: the text ends in logs.
  private func refusal(_ reason: String, _ exchange: StubExchange, _ rest: String) -> TransportError {
    let target = "\(exchange.method.rawValue) \(Redaction().target(exchange.target))"
    return TransportError(.unsupported, requestState: .notSent, detail: "\(reason) \(target)\(rest)")
  }
}

public import ApusCore
import HTTPTypes

/// A middleware that retries failed attempts, as a ``RetryPolicy`` decides.
///
/// Middlewares further in run for each attempt: an attempt waits for its own permit, has its own timeout, counts toward
/// the circuit breaker's limits and carries fresh credentials. During the delay between two attempts a call holds no
/// permit, connection or response. The deadline and the cancellation of the call end the delay.
///
/// - Whether a streamed response is retried depends on its head. Once the app has the response, there is no retry.
/// - Coalesced calls share their attempts, under the policy of the call that began the exchange. The deadline of a
///   single caller does not shorten the attempts, which end with the last caller.
/// - The call of a token refresh is retried like any other call: with a rotating token, the call is a POST, and is
///   retried only if the request was not sent. Calls whose refresh failed are not retried.
/// - Whether a response is retried depends on its status, even if the endpoint accepts that status, and on the policy's
///   rule (``RetryPolicy/rule``).
/// - A retry repeats every hop of a redirected call. If the server may have acted, each message that was sent must be
///   idempotent or carry an idempotency key; a key that was not forwarded to another origin does not make the message
///   to that origin repeatable.
package struct RetryMiddleware: Middleware {
  let defaultPolicy: RetryPolicy
  let budgets: RetryBudgets

  /// Creates the middleware, with its own retry budget.
  ///
  /// - Parameters:
  ///   - defaultPolicy: the policy of calls that set no policy (`.retry(…)`). Default: ``RetryPolicy/app``.
  ///   - budget: the retry budget of each origin. Default: ``RetryBudget/default``.
  package init(_ defaultPolicy: RetryPolicy = .app, budget: RetryBudget = .default) {
    self.defaultPolicy = defaultPolicy
    budgets = RetryBudgets(budget)
  }

  /// Passes the request on, once for each attempt.
  ///
  /// - Throws: the error of the last attempt; `CancellationError` when the call is cancelled between two attempts.
  package func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    let first = try first(request, context)
    let outcome: RetriedCall.Outcome
    do {
      let response = try await next(first.message, context: reservingTime(context, for: first))
      guard let failed = failedOutcome(response, of: first) else { return response }
      outcome = failed
    } catch {
      outcome = try failedOutcome(error, of: first)
    }
    return try await continueCall(after: outcome, of: first, context, next)
  }

  // MARK: Steps

  /// The first attempt of a call.
  private struct FirstAttempt {
    let message: RequestMessage
    /// The content that can be sent only once; `nil`: the content is replayable, or there is no further attempt.
    let content: OneTimeContent?
    let start: MonotonicInstant
    let mayBeRetried: Bool
  }

  @inline(never)
  private func first(_ request: RequestMessage, _ context: CallContext) throws -> FirstAttempt {
    let mayBeRetried = policy(context).maximumAttempts > 1 && context.delivery != .described
    var message = request
    if let key = context.values[IdempotencyKeyKey.self] { try message.addField(key.rawField(context.random)) }
    let content = mayBeRetried ? OneTimeContent(request.content) : nil
    if let content { message.content = content.content }
    return FirstAttempt(message: message, content: content, start: context.now, mayBeRetried: mayBeRetried)
  }

  /// Returns the context of a first attempt, which reserves time for a retry if a retry is possible.
  @inline(never)
  private func reservingTime(_ context: CallContext, for first: FirstAttempt) -> CallContext {
    guard first.mayBeRetried, first.message.content.isReplayable, context.isRepeatable(first.message.head) else {
      return context
    }
    var context = context
    context.leavesTimeForRetry = true
    return context
  }

  /// Returns the outcome of a first attempt whose response may be retried, or `nil`. Records a success in the retry
  /// budget.
  private func failedOutcome(_ response: ResponseMessage, of first: FirstAttempt) -> RetriedCall.Outcome? {
    guard first.mayBeRetried else { return nil }
    guard response.statusCode < 400 else { return .responded(response) }
    budgets.succeeded(first.message)
    return nil
  }

  /// Returns the outcome of a first attempt whose error may be retried.
  ///
  /// - Throws: an error that is not retried.
  @inline(never)
  private func failedOutcome(_ error: any Error, of first: FirstAttempt) throws -> RetriedCall.Outcome {
    guard let error = error as? TransportError else { throw error }
    guard first.mayBeRetried else { throw OfflineRefusal.unmarked(error) }
    return .failed(error)
  }

  @inline(never)
  private func continueCall(
    after outcome: RetriedCall.Outcome, of first: FirstAttempt, _ context: CallContext, _ next: Next
  ) async throws -> ResponseMessage {
    let message = first.message
    var call = RetriedCall(
      message: message, content: first.content, budgets: budgets, next: next, context: context,
      state: RetryState(policy(context), budgets.budget, RetryState.Subject(message, context)))
    let step = try call.step(after: outcome, since: first.start)
    return try await call.run(from: step)
  }

  private func policy(_ context: CallContext) -> RetryPolicy {
    context.values[RetryPolicyKey.self] ?? defaultPolicy
  }
}

extension RetryState.Subject {
  /// Creates the properties of a call's message. A declaration of its endpoint takes precedence over the method.
  init(_ message: RequestMessage, _ context: CallContext) {
    self.init(
      isIdempotent: context.values[IdempotenceKey.self] ?? message.head.method.isIdempotent,
      isKeyed: context.hasIdempotencyKey(message.head))
  }
}

extension RetryMiddleware: SelfDescribing {
  /// The default policy and the budget for `describe()`.
  package var facts: [Fact] {
    guard defaultPolicy.maximumAttempts > 1 else { return [.attempts(1)] }
    let budget = budgets.budget
    var facts: [Fact] = [
      .attempts(defaultPolicy.maximumAttempts),
      .backoff(first: defaultPolicy.baseDelay, maximum: defaultPolicy.maximumDelay),
      .time("after 429 from", defaultPolicy.throttledBaseDelay), serverDelay,
      .budget(capacity: budget.capacity, cost: max(0, budget.cost)),
    ]
    if defaultPolicy.statuses != RetryPolicy.defaultStatuses {
      facts.append(.setting("statuses", defaultPolicy.statuses.sorted().map { "\($0)" }.joined(separator: " ")))
    }
    if let rule = defaultPolicy.rule { facts.append(.setting("rule", rule.name)) }
    if defaultPolicy.retriesNonIdempotent {
      facts.append(.setting("non-idempotent calls where the server allows it", ""))
    }
    return facts
  }

  private var serverDelay: Fact {
    switch defaultPolicy.serverDelay {
    case .honored(let limit): .serverDelay(upTo: limit, isClamped: false)
    case .clamped(let limit): .serverDelay(upTo: limit, isClamped: true)
    }
  }
}

enum RetryPolicyKey: ContextKey {
  /// `nil`: the client's policy.
  static let defaultValue: RetryPolicy? = nil
}

extension Endpoint {
  /// Sets the retry policy of calls of this endpoint. Default: the client's policy.
  public func retry(_ policy: RetryPolicy) -> Request<Value> {
    setting(RetryPolicyKey.self, policy)
  }

  /// Declares whether calls of this endpoint are idempotent (RFC 9110 §9.2.2): sending the request twice has the same
  /// effect as sending it once. If it is unknown whether an idempotent request arrived, it may be resent, by a retry or
  /// by a transport whose connection was closed.
  ///
  /// Default: determined by the method. A call with an idempotency key may be resent in any case.
  public func idempotent(_ isIdempotent: Bool = true) -> Request<Value> {
    setting(IdempotenceKey.self, isIdempotent)
  }
}

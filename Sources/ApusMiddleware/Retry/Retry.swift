public import ApusCore
import HTTPTypes

/// Tries again what failed for now, as a ``RetryPolicy`` says.
///
/// Whatever stands further in runs for each attempt, so an attempt waits for its turn, has its own limit, counts for a
/// breaker and carries fresh credentials; between two attempts a call holds nothing of that, and no answer. The pause
/// is part of the call: its deadline and its cancellation end it.
///
/// - A streamed answer is judged by its head. Once the app has it nothing is tried again.
/// - Calls that share an exchange share its attempts, by the policy of the one that began it. No single caller's
///   deadline shortens them; they end with the last who waits.
/// - A refresh's own call is tried again like any other where that is safe: with a token that is good for once it is a
///   POST, and goes out again only where it was not sent. Calls whose refresh failed are not tried again.
/// - A response is judged by its status, also where the endpoint accepts that status, and by the policy's rule
///   (``RetryPolicy/rule``).
/// - A retry repeats every hop of a redirected call. What the server may have acted on is retried only where each message
///   that was sent is idempotent or carries an idempotency key: a key that stayed behind at another origin protects
///   nothing there.
public struct Retry: Middleware {
  let standard: RetryPolicy
  let budgets: RetryBudgets

  /// Makes the middleware, with a budget of its own.
  ///
  /// - Parameters:
  ///   - standard: for calls that say nothing else (`.retry(…)`). Default: ``RetryPolicy/interactive``.
  ///   - budget: how much is tried again at one server. Default: ``RetryBudget/standard``.
  public init(_ standard: RetryPolicy = .interactive, budget: RetryBudget = .standard) {
    self.standard = standard
    budgets = RetryBudgets(budget)
  }

  /// Passes the message on, and on again as long as it fails for now.
  ///
  /// - Throws: what the last attempt threw; `CancellationError` when the call is cancelled between two attempts.
  public func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    let isRepeated = policy(context).attempts > 1 && context.delivery != .described
    let (message, content) = try prepared(request, context, isRepeated: isRepeated)
    let start = context.now
    let first: RetriedCall.Outcome
    do {
      let response = try await next(message, context: isRepeated ? leavingTime(context, message) : context)
      if response.head.status.code < 400 {
        if isRepeated { budgets.succeeded(message) }
        return response
      }
      guard isRepeated else { return response }
      first = .answered(response)
    } catch let error as TransportError {
      guard isRepeated else { throw OfflineRefusal.unmarked(error) }
      first = .failed(error)
    }
    return try await goOn(
      RetriedCall(
        message: message, content: content, budgets: budgets, next: next, context: context,
        state: RetryState(policy(context), budgets.budget, RetryState.Subject(message, context))), after: first, start)
  }

  /// A function of its own, so that calls whose first attempt succeeds keep no room for it.
  @inline(never)
  private func goOn(
    _ call: consuming RetriedCall, after first: RetriedCall.Outcome, _ start: MonotonicInstant
  ) async throws -> ResponseMessage {
    let step = try call.step(after: first, since: start)
    return try await call.goOn(with: step)
  }

  private func policy(_ context: CallContext) -> RetryPolicy {
    context.values[RetryPolicyKey.self] ?? standard
  }

  @inline(never)  // What it needs for a moment would be kept for as long as the call waits.
  private func prepared(
    _ request: RequestMessage, _ context: CallContext, isRepeated: Bool
  ) throws -> (RequestMessage, OneTimeContent?) {
    var message = request
    if let key = context.values[IdempotencyKeyKey.self] { try message.addField(key.rawField(context.random)) }
    guard isRepeated, let content = OneTimeContent(request.content) else { return (message, nil) }
    message.content = content.content
    return (message, content)
  }
}

extension RetryState.Subject {
  /// What a call's message and its endpoint say.
  init(_ message: RequestMessage, _ context: CallContext) {
    self.init(
      isIdempotent: context.values[IdempotenceKey.self] ?? message.head.method.isIdempotent,
      isKeyed: context.hasIdempotencyKey(message.head))
  }
}

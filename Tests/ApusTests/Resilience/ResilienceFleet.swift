import Apus
import ApusTesting
import HTTPTypes

/// What the clients of a simulated server do when a call fails.
enum ResilienceFleet: String, Sendable, CaseIterable {
  /// Try again a tenth of a second later, whatever the failure: ``InsistentRetry``.
  case naive
  /// What an app's client does by default.
  case ours

  /// A client on a device of its own; an answer that takes more than two seconds is of no use.
  func client(of server: SimulatedServer, in world: SimulatedWorld) -> Client {
    var configuration = Configuration(baseURL: server.baseURL)
    configuration.suit(.app)
    configuration.settings = world.settings(configuration.settings)
    if self == .naive {
      configuration.retry = RetryPolicy.none
      configuration.breaker = nil
    }
    configuration.customizePipeline = { [self] in
      if self == .naive { $0.insert(InsistentRetry(), .after(.retry)) }
      $0.insert(Patience(limit: .seconds(2)), .after(.attemptDeadline))
    }
    return Client(configuration: configuration, transport: world.transport())
  }
}

/// Three attempts at a fixed distance, whatever the failure, as clients must not do.
struct InsistentRetry: Middleware {
  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    var context = context
    while context.attempt < 3 {
      do {
        let response = try await next(request, context: context)
        guard response.head.status.code >= 500 else { return response }
        response.discard()
      } catch is TransportError {
        // There is another attempt.
      }
      try await context.clock.sleep(until: context.now.advanced(by: .milliseconds(100)))
      context.attempt += 1
    }
    return try await next(request, context: context)
  }
}

/// Limits every attempt, as `.attemptTimeout(_:)` on every request does: an answer that comes later is of no use.
private struct Patience: Middleware {
  let limit: Duration

  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    var context = context
    context.limitAttempt(to: context.now.advanced(by: limit))
    return try await next(request, context: context)
  }
}

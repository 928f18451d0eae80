import Apus
import ApusTesting
import HTTPTypes

/// The retry behavior of the clients of a simulated server.
enum ResilienceFleet: String, Sendable, CaseIterable {
  /// Retries any failure after 0.1 seconds: ``InsistentRetry``.
  case naive
  /// The default retry of an app's client.
  case ours

  /// Returns a client on a new device. A response that takes more than two seconds is useless.
  func client(of server: SimulatedServer, in world: SimulatedWorld) -> Client {
    var configuration = Configuration(baseURL: server.baseURL)
    configuration.apply(.app)
    configuration.settings = world.settings(configuration.settings)
    if self == .naive {
      configuration.retry = RetryPolicy.none
      configuration.breaker = nil
    }
    configuration.customizePipeline = { [self] in
      if self == .naive { $0.insert(InsistentRetry(), .after(.retry)) }
      $0.insert(AttemptLimit(limit: .seconds(2)), .after(.attemptTimeout))
    }
    return Client(configuration: configuration, transport: world.transport())
  }
}

/// A middleware with three attempts and a fixed delay for any failure, as no client should have.
struct InsistentRetry: Middleware {
  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    var context = context
    while context.attempt < 3 {
      do {
        let response = try await next(request, context: context)
        guard response.head.status.code >= 500 else { return response }
        response.discard()
      } catch is TransportError {
        // The next attempt follows.
      }
      try await context.clock.sleep(until: context.now.advanced(by: .milliseconds(100)))
      context.attempt += 1
    }
    return try await next(request, context: context)
  }
}

/// A middleware that limits every attempt, like `.attemptTimeout(_:)` on every request.
private struct AttemptLimit: Middleware {
  let limit: Duration

  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    var context = context
    context.limitAttempt(to: context.now.advanced(by: limit))
    return try await next(request, context: context)
  }
}

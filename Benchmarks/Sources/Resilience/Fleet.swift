import Apus
import ApusTesting
import HTTPTypes

/// The failure handling of a server's clients.
enum Fleet: String, Sendable, CaseIterable {
  /// No retries.
  case none
  /// A common hand-written retry: ``NaiveRetry``.
  case naive
  /// The preset for apps: retry with a budget, and a circuit breaker.
  case ours

  /// The time after which a response is no longer useful to the user.
  static let patience = Duration.seconds(2)

  /// Creates a client on a separate simulated device. All fleets have the same other settings: scheduler, deadlines,
  /// link.
  func client(of server: SimulatedServer, in world: SimulatedWorld) -> Client {
    var configuration = Configuration(baseURL: server.baseURL)
    configuration.apply(.app)
    configuration.settings = world.settings(configuration.settings)
    if self != .ours {
      configuration.retry = RetryPolicy.none
      configuration.breaker = nil
    }
    configuration.customizePipeline = { [self] in
      if self == .naive { $0.insert(NaiveRetry(), .after(.retry)) }
      $0.insert(Patience(limit: Self.patience), .after(.attemptTimeout))
    }
    return Client(configuration: configuration, transport: world.transport())
  }
}

/// A middleware that sets a timeout for every attempt, as `.attemptTimeout(_:)` on every request: a later response is
/// not useful.
private struct Patience: Middleware {
  let limit: Duration

  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    var context = context
    context.limitAttempt(to: context.now.advanced(by: limit))
    return try await next(request, context: context)
  }
}

/// A middleware that makes three attempts with a fixed delay after any failure: no jitter, no budget, no `Retry-After`.
struct NaiveRetry: Middleware {
  static let attempts = 3
  static let pause = Duration.milliseconds(100)

  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    var context = context
    while context.attempt < Self.attempts {
      do {
        let response = try await next(request, context: context)
        guard response.head.status.code >= 500 else { return response }
        response.discard()
      } catch is TransportError {
        // The error is ignored, because another attempt follows.
      }
      try await context.clock.sleep(until: context.now.advanced(by: Self.pause))
      context.attempt += 1
    }
    return try await next(request, context: context)
  }
}

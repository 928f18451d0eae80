import Apus
import ApusTesting

/// What the clients of a server do when a call fails.
enum Fleet: String, Sendable, CaseIterable {
  /// Nothing is tried again.
  case none
  /// Everything is, as many write it: ``NaiveRetry``.
  case naive
  /// What an app's client does by default: retry with its budget, and a breaker.
  case ours

  /// How long somebody waits for an answer before it is no use any more.
  static let patience = Duration.seconds(2)

  /// A client on a device of its own. All else is the same for each fleet: scheduler, deadlines, link.
  func client(of server: SimulatedServer, in world: SimulatedWorld) -> Client {
    var configuration = Configuration(baseURL: server.baseURL)
    configuration.suit(.app)
    configuration.settings = world.settings(configuration.settings)
    if self != .ours {
      configuration.retry = RetryPolicy.none
      configuration.breaker = nil
    }
    configuration.customizePipeline = { [self] in
      if self == .naive { $0.insert(NaiveRetry(), .after(.retry)) }
      $0.insert(Patience(limit: Self.patience), .after(.attemptDeadline))
    }
    return Client(configuration: configuration, transport: world.transport())
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

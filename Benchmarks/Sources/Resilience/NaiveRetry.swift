import Apus
import HTTPTypes

/// Three attempts at a fixed distance, whatever the failure: no lot is drawn, nothing is counted, nobody is listened
/// to.
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
        // Told to nobody: there is another attempt.
      }
      try await context.clock.sleep(until: context.now.advanced(by: Self.pause))
      context.attempt += 1
    }
    return try await next(request, context: context)
  }
}

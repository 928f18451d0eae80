import Apus
import HTTPTypes

/// A middleware that retries once after a 503.
struct RetryOnce: Middleware {
  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    let response = try await next(request, context: context)
    guard response.head.status == .serviceUnavailable else { return response }
    response.discard()
    var context = context
    context.attempt += 1
    return try await next(request, context: context)
  }
}

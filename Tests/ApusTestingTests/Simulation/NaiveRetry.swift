import ApusCore
import HTTPTypes

/// A middleware that retries every failure immediately, as no client should, to cause retry storms in tests.
struct NaiveRetry: Middleware {
  let attempts: Int
  var pause = Duration.zero

  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    var context = context
    while true {
      let isLast = context.attempt >= attempts
      do {
        let response = try await next(request, context: context)
        guard response.head.status.code >= 500, !isLast else { return response }
        response.discard()
      } catch let error as TransportError {
        guard !isLast else { throw error }
      }
      let wait = pause * (Double(context.random() >> 11) * 0x1p-53)
      try await context.clock.sleep(until: context.now.advanced(by: wait))
      context.attempt += 1
    }
  }
}

extension Pipeline {
  static func retrying(_ attempts: Int, pause: Duration = .zero) -> Pipeline {
    var pipeline = Pipeline()
    pipeline.insert(NaiveRetry(attempts: attempts, pause: pause), .after(.retry))
    return pipeline
  }
}

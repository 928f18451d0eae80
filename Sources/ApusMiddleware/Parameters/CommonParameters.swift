public import ApusCore

/// Puts the environment's common fields and query parameters on every message that has none of that name.
public struct CommonParameters: Middleware {
  /// Makes the middleware; what it adds is in the call's environment.
  public init() {}

  /// Adds what the message lacks.
  ///
  /// - Throws: what makes the call fail with `invalidRequest` or `encoding` when a common field or
  ///   parameter cannot be sent.
  public func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    let environment = context.environment
    guard !environment.fields.isEmpty || !environment.query.isEmpty else {
      return try await next(request, context: context)
    }
    var request = request
    for field in environment.fields { try request.addField(field) }
    if !environment.query.isEmpty { try request.addQuery(environment.query, style: context.queryStyle) }
    return try await next(request, context: context)
  }
}

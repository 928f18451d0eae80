package import ApusCore
import HTTPTypes

/// A middleware that adds the environment's common fields and query parameters to messages that lack them.
///
/// It is outside all middlewares that compare or resend messages, as in the default pipeline: a stored or shared
/// response then belongs to the whole message, and no parameters are added to the target of a redirect. Common fields
/// are also sent with redirected requests; a secret among them is marked as sensitive and is not sent to another origin
/// (``RawField/isSensitive``).
///
/// A call of a complete URL (``RequestPath/url(_:relativeTo:)-(String,_)``) gets no common parameters, because they
/// could invalidate a signed URL. If its origin is not the environment's origin, the call also gets no secret common
/// fields (``Endpoint/trusting(_:)``).
package struct CommonParametersMiddleware: ConditionalMiddleware {
  /// Creates the middleware. The fields and parameters are part of the environment.
  package init() {}

  /// Only calls with common fields or parameters need this middleware.
  package var audience: MiddlewareAudience { .callsWithCommonParameters }

  /// Adds the missing fields and parameters. `Content-Type` is not added to a message without content.
  ///
  /// - Throws: an error that fails the call with `invalidRequest` or `encoding` if a common field or parameter cannot
  ///   be sent.
  package func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    try await next(completed(request, context), context: context)
  }

  private func completed(_ request: RequestMessage, _ context: CallContext) throws -> RequestMessage {
    let environment = context.environment
    var request = request
    let secrets = context.isTrusted(request) ? nil : CredentialFields(of: context)
    for field in environment.fields where !(request.content.isEmpty && Self.describesContent(field)) {
      if let secrets, secrets.contain(field) { continue }
      try request.addField(field)
    }
    if !environment.query.isEmpty, !context.sendsToURL {
      try request.addQuery(environment.query, style: context.queryStyle)
    }
    return request
  }

  private static func describesContent(_ field: RawField) -> Bool {
    field.name.lowercased() == HTTPField.Name.contentType.canonicalName
  }
}

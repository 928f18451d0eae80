public import ApusCore
import HTTPTypes

/// Puts the environment's common fields and query parameters on every message that has none of that name.
///
/// It belongs outside of everything that compares messages or sends them again, as in the default pipeline: a
/// stored or shared answer then belongs to the whole message, and a redirect's target, which is the server's own, gets
/// no parameters added. Common fields go along with redirects; a secret among them is marked as sensitive, so that it
/// does not reach another origin (``RawField/isSensitive``).
public struct CommonParameters: Middleware {
  /// Makes the middleware; what it adds is in the call's environment.
  public init() {}

  /// Adds what the message lacks. `Content-Type` is left out where there is no content.
  ///
  /// - Throws: what makes the call fail with `invalidRequest` or `encoding` when a common field or
  ///   parameter cannot be sent.
  public func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    try await next(completed(request, context), context: context)
  }

  @inline(never)  // What it needs for a moment would be kept for as long as the call waits.
  private func completed(_ request: RequestMessage, _ context: CallContext) throws -> RequestMessage {
    let environment = context.environment
    guard !environment.fields.isEmpty || !environment.query.isEmpty else { return request }
    var request = request
    for field in environment.fields where !(request.content.isEmpty && Self.describesContent(field)) {
      try request.addField(field)
    }
    if !environment.query.isEmpty { try request.addQuery(environment.query, style: context.queryStyle) }
    return request
  }

  private static func describesContent(_ field: RawField) -> Bool {
    field.name.lowercased() == HTTPField.Name.contentType.canonicalName
  }
}

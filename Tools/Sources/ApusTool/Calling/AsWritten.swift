import Apus
import HTTPTypes

/// A message's target and fields as somebody wrote them: repeated fields stay repeated, in order.
struct WrittenMessage: Sendable, Hashable {
  /// Path and query.
  var target: String
  var fields: [RawField]
}

/// Where a call keeps what was written.
enum WrittenMessageKey: ContextKey {
  static let defaultValue: WrittenMessage? = nil
}

/// Puts what was written on the message, so that servers are asked exactly that: endpoints of apps need less freedom
/// than a person who tries something out.
struct AsWritten: Middleware {
  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    guard let written = context.values[WrittenMessageKey.self] else { return try await next(request, context: context) }
    var request = request
    request.target = written.target
    var fields = HTTPFields()
    for field in written.fields {
      // Has the field checked as one of any message.
      var probe = RequestMessage(head: HTTPRequest(method: .get, scheme: nil, authority: nil, path: nil))
      try probe.addField(field)
      fields.append(contentsOf: probe.head.headerFields)
    }
    for name in Set(fields.map(\.name)) { request.head.headerFields[name] = nil }
    request.head.headerFields.append(contentsOf: fields)
    return try await next(request, context: context)
  }
}

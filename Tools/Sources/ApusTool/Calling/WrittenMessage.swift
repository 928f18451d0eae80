import Apus
import HTTPTypes

/// The target and fields of a request as the user wrote them; repeated fields stay separate and in order.
struct WrittenMessage: Sendable, Hashable {
  /// The path and query; `nil` for those of the request.
  var target: String?
  var fields: [RawField]
  /// The origin for which the message was written; `nil` for any. Requests to other origins are not changed.
  var origin: Origin?
}

/// The key of a call's ``WrittenMessage``.
enum WrittenMessageKey: ContextKey {
  static let defaultValue: WrittenMessage? = nil
}

/// A middleware that sends the target and fields exactly as written. Users of a command-line tool need more freedom
/// than the endpoints of an app.
struct AsWritten: Middleware {
  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    guard let written = context.values[WrittenMessageKey.self] else { return try await next(request, context: context) }
    if let origin = written.origin, request.origin != origin { return try await next(request, context: context) }
    var request = request
    if let target = written.target { request.target = target }
    var fields = HTTPFields()
    for field in written.fields {
      // Validates the field like the fields of other messages.
      var probe = RequestMessage(head: HTTPRequest(method: .get, scheme: nil, authority: nil, path: nil))
      try probe.addField(field)
      fields.append(contentsOf: probe.head.headerFields)
    }
    for name in Set(fields.map(\.name)) { request.head.headerFields[name] = nil }
    request.head.headerFields.append(contentsOf: fields)
    return try await next(request, context: context)
  }
}

extension HTTPField {
  /// The value as text: UTF-8 if valid, otherwise Latin-1, in which every byte is a character.
  var text: String {
    withUnsafeBytesOfValue { bytes in
      String(validating: bytes, as: UTF8.self)
        ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }
  }
}

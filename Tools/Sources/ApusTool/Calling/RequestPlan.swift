import Apus
import HTTPTypes

/// The request of a command.
struct RequestPlan: Sendable {
  var method: HTTPRequest.Method
  var url: TargetURL
  var fields: [RawField] = []
  var content = ContentPlan.none

  /// Returns the request, whose target and fields (headers) are sent as written.
  ///
  /// - Throws: ``InputError`` for content that cannot be read.
  func endpoint(_ connection: ConnectionPlan) throws(InputError) -> Request<Content> {
    let request = Request<Content>(
      method: method, path: RequestPath(stringLiteral: url.endpointName), content: try content.content(),
      mapping: .content)
    return connection.applied(
      to: request.setting(WrittenMessageKey.self, WrittenMessage(target: url.target, fields: fields)))
  }

  /// Returns the request for an event stream, whose target and fields are sent as written.
  ///
  /// - Throws: ``InputError`` for content that cannot be read.
  func eventStream(_ connection: ConnectionPlan) throws(InputError) -> Request<EventStream<ServerSentEvent>> {
    let request = Request<EventStream<ServerSentEvent>>
      .method(method, RequestPath(stringLiteral: url.endpointName), content: try content.content())
    return connection.applied(
      to: request.setting(WrittenMessageKey.self, WrittenMessage(target: url.target, fields: fields)))
  }
}

extension ConnectionPlan {
  /// Returns a request with the timeout and the redirects of the command line.
  func applied<Value>(to request: Request<Value>) -> Request<Value> {
    var request = request
    request.options.timeout = timeout
    return request.redirects(followsRedirects ? .follow : .none)
  }
}

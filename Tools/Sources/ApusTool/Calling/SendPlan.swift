import Apus
import HTTPTypes

/// What `apus send` sends, and what becomes of the answer.
struct SendPlan: Sendable {
  var method: HTTPRequest.Method
  var url: TargetURL
  var fields: [RawField] = []
  var content = ContentPlan.none
  /// The file that takes the content; `nil`: standard output.
  var output: String?
  /// Whether status and fields of the answer are printed before its content.
  var includesHead = false
  /// Whether content is printed as it came, also on a terminal.
  var isRaw = false
  /// Whether the timeline is printed at the end.
  var showsTrace = false

  /// The request.
  ///
  /// - Throws: ``PlanError`` for a method that is no token; ``InputError`` for content that cannot be read.
  func request(_ connection: ConnectionPlan) throws -> Request<Content> {
    var request = Request<Content>(
      method: method, path: RequestPath(stringLiteral: url.endpointName), content: try content.content(),
      mapping: .content
    )
    .accepting(.any)
    .setting(WrittenMessageKey.self, WrittenMessage(target: url.target, fields: fields))
    request.options.timeout = connection.timeout
    return request.redirects(connection.followsRedirects ? .follow : .none)
  }
}

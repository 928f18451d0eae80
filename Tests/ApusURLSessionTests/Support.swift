import ApusCore
import ApusTestServer
import ApusURLSession
import HTTPTypes
import LoopbackConformance

/// A client whose calls obey their `timeout`, on the transport under test.
func makeClient(
  _ server: TestServer, transport: URLSessionTransport = URLSessionTransport(),
  settings: ClientSettings = ClientSettings(),
  target: String? = nil
) throws -> Client {
  var pipeline = Pipeline()
  pipeline.insert(CallDeadline(), .after(.timeout))
  if let target { pipeline.insert(FixedTarget(target: target), .before(.transport)) }
  return Client(
    environment: Environment(baseURL: try BaseURL(server.origin)), pipeline: pipeline, transport: transport,
    settings: settings)
}

/// Any method and path; every status is accepted.
func message(_ method: HTTPRequest.Method = .get, _ path: RequestPath = "/") -> Request<Content> {
  Request(method: method, path: path, mapping: .content).accepting(.any)
}

/// Sends a target that core would refuse.
struct FixedTarget: Middleware {
  let target: String

  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    var request = request
    request.target = target
    return try await next(request, context: context)
  }
}

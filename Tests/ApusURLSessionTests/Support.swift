import ApusCore
import ApusTestServer
import ApusURLSession
import HTTPTypes
import LoopbackConformance

/// Returns a client that uses the transport under test. Its calls respect their `timeout`.
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

/// Returns a request that accepts every status.
func message(_ method: HTTPRequest.Method = .get, _ path: RequestPath = "/") -> Request<Content> {
  Request(method: method, path: path, mapping: .content).accepting(.any)
}

/// A middleware that sets a request target that `ApusCore` would refuse.
struct FixedTarget: Middleware {
  let target: String

  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    var request = request
    request.target = target
    return try await next(request, context: context)
  }
}

import ApusCore
import ApusTesting
import HTTPTypes
import Testing

@Suite("Range requests")
struct RangeTests {
  /// A middleware that adds a Range field, as a resumed download does.
  private struct Resume: Middleware {
    func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
      var request = request
      request.head.headerFields[.range] = "bytes=100-"
      return try await next(request, context: context)
    }
  }

  private func sent(_ request: Request<Void>, through middleware: [any Middleware] = []) async throws -> String? {
    let stub = StubTransport()
    stub.onAny(reply: .status(206))
    var pipeline = Pipeline()
    for middleware in middleware { pipeline.insert(middleware, .before(.transport)) }
    let api = Client(environment: Environment(baseURL: "https://a.example"), pipeline: pipeline, transport: stub)
    try await api.send(request)
    return stub.exchanges.first?.fields[.acceptEncoding]
  }

  @Test("A range request accepts only the identity coding, unless the call sets Accept-Encoding")
  func identity() async throws {
    #expect(try await sent(Request<Void>.get("/a").field("Range", "bytes=0-1")) == "identity")
    let own = Request<Void>.get("/a").field("Range", "bytes=0-1").field("Accept-Encoding", "gzip")
    #expect(try await sent(own) == "gzip")
    #expect(try await sent(Request<Void>.get("/a")) == nil)
  }

  @Test("A request to which a middleware adds a range accepts only the identity coding")
  func middleware() async throws {
    #expect(try await sent(Request<Void>.get("/a"), through: [Resume()]) == "identity")
  }
}

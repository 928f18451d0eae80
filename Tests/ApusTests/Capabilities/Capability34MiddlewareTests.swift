import Apus
import ApusTestServer
import HTTPTypes
import Testing

@Suite("34: custom middlewares")
struct Capability34MiddlewareTests {
  private struct AddField: Middleware {
    func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
      var request = request
      try request.addField(RawField("X-Attempt", "\(context.attempt)"))
      return try await next(request, context: context)
    }
  }

  private struct Sign: Middleware {
    func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
      var request = request
      let signed = request.head.headerFields.map(\.name.canonicalName).sorted().joined(separator: ";")
      try request.addField(RawField("X-Signed", signed))
      return try await next(request, context: context)
    }
  }

  private func configure(_ configuration: inout Configuration) {
    configuration.authentication = .bearer(MemoryCredentialsStore(token: "t"))
    configuration.customizePipeline = { pipeline in
      pipeline.insert(AddField(), .after(.retry))
      pipeline.insert(Sign(), .before(.transport))
      pipeline.insert(RetryOnce(), .before(.retry))
    }
  }

  @Test("Custom middlewares add a field, a signature and a retry, and the server receives them in order")
  func onTheWire() async throws {
    try await TestServer.with {
      $0.number == 0 ? .status(503) : .text("ok")
    } body: { server in
      let api = server.client(configure: configure)
      let text = try await api.send(Request<String>.get("/a"))
      #expect(text == "ok")
      #expect(server.exchanges.map { $0.fields["X-Attempt"] } == ["1", "2"])
      #expect(
        server.exchanges.map { $0.fields["X-Signed"] } == [
          "accept;authorization;x-attempt", "accept;authorization;x-attempt",
        ])
    }
  }

  @Test("The description of the assembled pipeline lists its middlewares in order")
  func order() {
    var configuration = Configuration(baseURL: "https://example.test")
    configure(&configuration)
    // The retry slot has two additional middlewares, each at the end at which it was inserted.
    #expect(
      "\(configuration.pipeline)" == """
        validation: CommonParametersMiddleware
        timeout: TimeoutMiddleware
        principal: PrincipalBinding
        coalescing: CoalescingMiddleware
        retry: RetryOnce
        retry: RetryMiddleware
        retry: AddField
        scheduling: SchedulingMiddleware
        attemptTimeout: AttemptTimeoutMiddleware
        breaker: CircuitBreaker
        redirects: RedirectMiddleware
        authentication: AuthenticationMiddleware
        transport: Sign
        """)
  }
}

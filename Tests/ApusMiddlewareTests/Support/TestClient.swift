import ApusCore
import ApusMiddleware
import ApusTesting
@_exported import TestSupport
import Testing

/// A secret that must not occur anywhere except on the wire.
let sentinel = "s3nt1nel-SECRET-0xDEADBEEF"

/// The middlewares of this target in their order, over a stub.
struct TestClient {
  var environment: Environment
  var settings = ClientSettings()
  var timeout: Duration?
  var onSessionEnd: (@Sendable (SessionEnd) -> Void)?
  var customize: (inout Pipeline) -> Void = { _ in }

  init(_ baseURL: BaseURL = "https://api.example.com/v1", name: String = "default") {
    environment = Environment(name, baseURL: baseURL)
  }

  func over(_ transport: any Transport) -> Client {
    var pipeline = Pipeline()
    pipeline.insert(CommonParametersMiddleware(), .after(.validation))
    pipeline.insert(TimeoutMiddleware(default: timeout), .after(.timeout))
    pipeline.insert(AuthenticationMiddleware(onSessionEnd: onSessionEnd), .after(.authentication))
    customize(&pipeline)
    return Client(environment: environment, pipeline: pipeline, transport: transport, settings: settings)
  }
}

extension StubTransport {
  /// Returns a stub with the same reply to every request.
  static func answering(_ answer: StubReply = .status(204)) -> StubTransport {
    let stub = StubTransport()
    stub.onAny(reply: answer)
    return stub
  }
}

/// A middleware that delays every message until its gate opens.
struct Hold: Middleware {
  let gate: Gate

  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    try await gate.wait()
    return try await next(request, context: context)
  }
}

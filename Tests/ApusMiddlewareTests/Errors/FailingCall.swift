import ApusCore
import ApusMiddleware
import ApusTesting
import HTTPTypes
import Testing

struct Film: Decodable, Sendable {
  let title: String
}

/// A failing call, with the expected properties of its error.
struct FailingCall: Sendable, CustomTestStringConvertible {
  /// The environment of a call.
  struct Bench: Sendable {
    let api: Client
    let stub: StubTransport
    let clock: ManualClock
    /// The gate for which the reply may wait.
    let gate: Gate
    /// Other calls that are made meanwhile.
    let others = Log<Task<CallError?, Never>>()

    /// Performs another call.
    func send(_ endpoint: Request<Film>) {
      others.add(Task { await failure { try await api.send(endpoint) } })
    }
  }

  /// The authentication scheme of the call.
  enum Scheme: CaseIterable {
    case bearer, basic, keyField, keyParameter
  }

  let name: String
  let code: CallError.Code
  let phase: CallPhase
  let state: RequestState
  var answer = StubReply.accepted()
  /// The reply that waits for the test, instead of ``answer``.
  var gated: (@Sendable (Gate) -> StubReply)?
  /// Changes the client.
  var setUp: @Sendable (inout TestClient) -> Void = { _ in }
  /// Changes the request.
  var change: @Sendable (Request<Film>) -> Request<Film> = { $0 }
  /// Performed before the call.
  var before: @Sendable (Bench) async throws -> Void = { _ in }
  /// Performed while the call runs.
  var meanwhile: @Sendable (Bench, Task<CallError?, Never>) async throws -> Void = { _, _ in }
  /// Reads a streamed response; `nil`: the response is buffered.
  var handler: (@Sendable (inout StreamedResponse) async throws -> Void)?

  var testDescription: String { "\(code.rawValue): \(name)" }

  init(
    _ name: String,
    _ told: (code: CallError.Code, phase: CallPhase, state: RequestState),
    _ change: (inout FailingCall) -> Void
  ) {
    self.name = name
    (code, phase, state) = told
    change(&self)
  }

  /// The request, with a secret wherever an app can set one.
  var request: Request<Film> {
    let request = Request<Film>.post(
      "/reset/\(SecretPlace.pathValue.secret)/\(7, "id")", query: ["q": SecretPlace.ownParameter.secret],
      content: .json(["password": SecretPlace.requestContent.secret]))
    return change(
      request.field("X-Own", SecretPlace.ownField.secret).field("Cookie", "sid=\(SecretPlace.cookie.secret)").tag("t"))
  }

  /// Returns the client, with a secret wherever a client can have one.
  func client(_ scheme: Scheme) -> TestClient {
    var client = TestClient(BaseURL(stringLiteral: "https://api.example.com/v1?base=\(SecretPlace.baseQuery.secret)"))
    let token = MemoryCredentialsStore(token: SecretPlace.credential.secret)
    client.environment.authentication =
      switch scheme {
      case .bearer: .bearer(token)
      case .basic:
        .basic(
          MemoryCredentialsStore(.password(user: SecretPlace.userName.secret, Secret(SecretPlace.credential.secret))))
      case .keyField: .apiKey(token, field: "X-Api-Key")
      case .keyParameter: .apiKey(token, queryParameter: "api_key")
      }
    client.environment.setField("X-Tenant-Key", SecretPlace.commonField.secret)
    client.environment.query = ["tenant": SecretPlace.commonParameter.secret]
    client.customize = { $0.insert(Signing(), .before(.transport)) }
    setUp(&client)
    return client
  }

  /// Performs the call and returns its error.
  func run(_ scheme: Scheme = .bearer, _ adjust: (inout TestClient) -> Void = { _ in }) async throws -> (
    error: CallError, bench: Bench
  ) {
    let clock = ManualClock(.manual)
    let gate = Gate()
    let stub = StubTransport.answering(gated?(gate) ?? answer)
    var client = client(scheme)
    client.settings.runtime.clock = clock
    adjust(&client)
    let bench = Bench(api: client.over(stub), stub: stub, clock: clock, gate: gate)
    try await before(bench)
    let (request, handler) = (request, handler)
    let call = Task {
      await failure {
        guard let handler else { return try await bench.api.send(request).title }
        return try await bench.api.withResponse(to: request) { response in
          try await handler(&response)
          return "read"
        }
      }
    }
    try await meanwhile(bench, call)
    let error = try #require(await call.value, "\(testDescription) did not fail")
    bench.api.calls.cancelAll()
    for other in bench.others.all { _ = await other.value }
    try await stub.waitUntilIdle()
    return (error, bench)
  }
}

extension StubReply {
  /// A response with secrets in its content and fields.
  static func accepted(
    _ json: String = #"{"title":"Ran","token":"\#(SecretPlace.responseContent.secret)"}"#, status: Int = 200,
    type: String = "application/json"
  ) -> StubReply {
    .json(
      json, status: status,
      fields: [
        .contentType: type, .setCookie: "sid=\(SecretPlace.setCookie.secret)",
        .wwwAuthenticate: "Bearer nonce=\"\(SecretPlace.challenge.secret)\"",
      ])
  }
}

/// A middleware that adds a sensitive field with an inconspicuous name to each message.
private struct Signing: Middleware {
  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    var request = request
    try request.addField(RawField("User-Agent", SecretPlace.sensitiveField.secret, isSensitive: true))
    return try await next(request, context: context)
  }
}

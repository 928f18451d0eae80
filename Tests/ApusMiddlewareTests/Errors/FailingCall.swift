import ApusCore
import ApusMiddleware
import ApusTesting
import HTTPTypes
import Testing

struct Film: Decodable, Sendable {
  let title: String
}

/// A way for a call to fail, and what its error should say of it.
struct FailingCall: Sendable, CustomTestStringConvertible {
  /// Everything a call is made in.
  struct Bench: Sendable {
    let api: Client
    let stub: StubTransport
    let clock: ManualClock
    /// What the answer may wait for.
    let gate: Gate
    /// Other calls that are made on the way.
    let others = Log<Task<CallError?, Never>>()

    /// Makes another call.
    func send(_ endpoint: Request<Film>) {
      others.add(Task { await failure { try await api.send(endpoint) } })
    }
  }

  /// How the call authenticates.
  enum Scheme: CaseIterable {
    case bearer, basic, keyField, keyParameter
  }

  let name: String
  let code: CallError.Code
  let phase: CallPhase
  let state: RequestState
  var answer = StubReply.accepted()
  /// The answer in place of ``answer``, when it waits for the test.
  var gated: (@Sendable (Gate) -> StubReply)?
  /// Changes the client.
  var setUp: @Sendable (inout TestClient) -> Void = { _ in }
  /// Changes the request.
  var change: @Sendable (Request<Film>) -> Request<Film> = { $0 }
  /// Is done before the call is made.
  var before: @Sendable (Bench) async throws -> Void = { _ in }
  /// Is done while the call runs.
  var meanwhile: @Sendable (Bench, Task<CallError?, Never>) async throws -> Void = { _, _ in }
  /// Reads the answer while it arrives; `nil`: the answer is buffered.
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

  /// The request, with a secret wherever an app can put one.
  var request: Request<Film> {
    let request = Request<Film>.post(
      "/reset/\(SecretPlace.pathValue.secret)/\(7, "id")", query: ["q": SecretPlace.ownParameter.secret],
      content: .json(["password": SecretPlace.requestContent.secret]))
    return change(
      request.field("X-Own", SecretPlace.ownField.secret).field("Cookie", "sid=\(SecretPlace.cookie.secret)").tag("t"))
  }

  /// The client, with a secret wherever one can have one.
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

  /// Makes the call and gives its error.
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

/// Puts a field on each message that is marked as sensitive, with a name that would be shown.
private struct Signing: Middleware {
  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    var request = request
    try request.addField(RawField("User-Agent", SecretPlace.sensitiveField.secret, isSensitive: true))
    return try await next(request, context: context)
  }
}

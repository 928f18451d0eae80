import Apus
import ApusTesting
import Foundation
import HTTPTypes
import Testing

@Suite("No description of an error contains a secret")
struct SecretsInTextsTests {
  private static let secret = "s3nt1nel"

  /// An error whose descriptions all contain the secret.
  private struct Talkative: LocalizedError, CustomStringConvertible {
    var description: String { secret }
    var errorDescription: String? { secret }
    var failureReason: String? { secret }
  }

  private let stub = StubTransport()
  private var api: Client {
    Client(baseURL: BaseURL(stringLiteral: "https://example.test/v1?key=\(Self.secret)"), transport: stub) {
      $0.authentication = .bearer(MemoryCredentialsStore(token: Self.secret))
      $0.setField("X-Key", Self.secret)
      $0.query = ["tenant": Self.secret]
    }
  }

  private func request(_ content: RequestContent = .json(["password": secret])) -> Request<User> {
    Request.post("/users/\(Self.secret)", query: ["q": Self.secret], content: content).field("X-Own", Self.secret)
  }

  private func error(answering answer: StubReply) async -> CallError? {
    stub.onAny(reply: answer)
    return await failure { try await api.send(request()) }
  }

  private func declined() async throws -> CallError? {
    stub.onAny(reply: .stalled)
    let api = api
    let one = request().id("one", onDuplicate: .refuse)
    let sent = stub.exchanges.count
    let first = Task { await failure { try await api.send(one) } }
    try await stub.waitForExchanges(sent + 1)
    defer { first.cancel() }
    return await failure { try await api.send(one) }
  }

  /// Returns an error with a code, from a call whose request, response and causes all contain the secret.
  private func error(_ code: CallError.Code) async throws -> CallError? {
    func transport(_ code: CallError.Code) async -> CallError? {
      await error(answering: .failure(TransportError(code, requestState: .maybeSent, underlying: Talkative())))
    }
    let fields: HTTPFields = [.setCookie: Self.secret, .location: "/\(Self.secret)"]
    switch code {
    case .invalidRequest: return await failure { try await api.send(request().field("X-Bad", "\(Self.secret)\n")) }
    case .encoding: return await failure { try await api.send(request(.json(["a": [Double.nan]]))) }
    case .refused: return try await declined()
    case .offline: return await transport(.offline)
    case .hostNotFound: return await transport(.hostNotFound)
    case .connectionFailed: return await transport(.connectionFailed)
    case .tls: return await transport(.tls)
    case .timeout: return await transport(.timeout)
    case .cancelled: return await error(answering: .failure(CancellationError()))
    case .connectionLost: return await error(answering: .failure(Talkative()))
    case .malformedResponse: return await transport(.malformedResponse)
    case .contentTooLarge: return await transport(.contentTooLarge)
    case .rejected:
      return await error(answering: .json(#"{"code":"E7","hint":"\#(Self.secret)"}"#, status: 422, fields: fields))
    case .decoding:
      return await error(answering: .json(#"{"\#(Self.secret)":1,"id":"\#(Self.secret)"}"#, fields: fields))
    case .handler:
      stub.onAny(reply: .json(#"{"a":"\#(Self.secret)"}"#, fields: fields))
      return await failure { try await api.withResponse(to: request()) { _ in throw Talkative() } }
    }
  }

  /// Returns all descriptions and messages of an error.
  private func texts(of error: CallError) -> [String] {
    var dumped = ""
    dump(error, to: &dumped)
    return [
      "\(error)", String(reflecting: error), String(describing: error as any Error), dumped, error.message,
      error.localizedDescription, error.detail, error.codingPath ?? "", "\(error.trace)",
      String(reflecting: error.trace),
      "\(error.endpoint)", "\(error.id)", error.cancellation.map { "\($0)" } ?? "",
      Mirror(reflecting: error).children.map { "\($0.value)" }.joined(),
      "\(Result<Void, CallError>.failure(error))", "\([error])",
    ]
  }

  @Test("The descriptions and messages of errors with each code contain no secret", arguments: CallError.Code.allCases)
  func everyCode(code: CallError.Code) async throws {
    let error = try #require(try await error(code))
    #expect(error.code == code)
    for text in texts(of: error) { #expect(!text.contains(Self.secret), "\(text)") }
  }

  @Test("The server's own message is in the error's message for people, but never in logs")
  func sentence() async throws {
    let error = try #require(await error(answering: .json(#"{"message":"\#(Self.secret)"}"#, status: 422)))
    #expect(error.message == Self.secret)
    for text in ["\(error)", String(reflecting: error), error.detail, "\(error.trace)"] {
      #expect(!text.contains(Self.secret), "\(text)")
    }
  }
}

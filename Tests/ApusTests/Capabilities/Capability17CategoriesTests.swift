import Apus
import ApusTesting
import HTTPTypes
import Testing

@Suite("17: categories of errors")
struct Capability17CategoriesTests {
  private struct Cause: Error {}

  /// A failure, and what the app gets for it.
  struct Row: Sendable, CustomTestStringConvertible {
    let kind: TransportError.Kind
    let code: CallError.Code
    let category: CallError.Category

    var testDescription: String { "\(kind)" }
  }

  @Test(
    "Each transport failure has one code, one category, its cause and a sentence",
    arguments: [
      Row(kind: .offline, code: .offline, category: .offline),
      Row(kind: .hostNotFound, code: .hostNotFound, category: .unreachable),
      Row(kind: .connectionFailed, code: .connectionFailed, category: .unreachable),
      Row(kind: .tls, code: .tls, category: .serverFailure),
      Row(kind: .connectionLost, code: .connectionLost, category: .serverFailure),
      Row(kind: .malformedResponse, code: .malformedResponse, category: .serverFailure),
      Row(kind: .contentTooLarge, code: .contentTooLarge, category: .serverFailure),
      Row(kind: .timedOut(.connecting), code: .timeout, category: .timeout),
      Row(kind: .timedOut(.receiving), code: .timeout, category: .timeout),
      Row(kind: .refused, code: .refused, category: .invalidRequest),
      Row(kind: .invalidRequest, code: .invalidRequest, category: .invalidRequest),
    ])
  func transportErrors(row: Row) async throws {
    let stub = StubTransport()
    stub.onAny(reply: .failure(TransportError(row.kind, requestState: .maybeSent, underlying: Cause())))
    let api = Client(baseURL: "https://example.test", transport: stub) { $0.retry = .none }
    let error = try #require(await failure { try await api.send(.ping) })
    #expect(error.code == row.code)
    #expect(error.category == row.category)
    #expect(error.underlying is Cause)
    #expect(error.requestState == .maybeSent)
    #expect(error.errorDescription?.hasSuffix(".") == true)
    #expect(error.errorDescription?.contains("Error") == false)
    if case .timedOut(let phase) = row.kind { #expect(error.phase == phase) }
  }

  @Test("A rejection with a reason is reported, one without is notReported")
  func refusals() async throws {
    let stub = StubTransport()
    stub.on(.get, "/ping", replies: [.json(#"{"message":"No."}"#, status: 400), .status(400)])
    let api = Client(baseURL: "https://example.test", transport: stub)
    #expect(await failure { try await api.send(.ping) }?.category == .rejected)
    #expect(await failure { try await api.send(.ping) }?.category == .serverFailure)
  }

  @Test("Local failures are encoding, decoding, invalid request or the app's own closure")
  func ownSide() async throws {
    let stub = StubTransport()
    stub.onAny(reply: .json("{}"))
    let api = Client(baseURL: "https://example.test", transport: stub)
    let encoding = await failure { try await api.send(.post("/a", content: .json([Double.nan]))) }
    let decoding = await failure { try await api.send(Request<User>.get("/a")) }
    let invalid = await failure { try await api.send(.get("/\("..")")) }
    let handler = await failure { try await api.withResponse(to: .ping) { _ in throw Cause() } }
    #expect(encoding?.category == .encoding)
    #expect(decoding?.category == .decoding)
    #expect(invalid?.category == .invalidRequest)
    #expect(handler?.category == .handler)
    #expect(handler?.underlying is Cause)
  }

  @Test("Another call's error thrown in a closure is the closure's error, not this call's")
  func foreignError() async throws {
    let stub = StubTransport()
    stub.onAny(reply: .status(200))
    stub.on(.get, "/inner", reply: .status(404))
    let api = Client(baseURL: "https://example.test", transport: stub)
    let error = try #require(
      await failure { try await api.withResponse(to: .get("/outer")) { _ in try await api.send(.get("/inner")) } })
    #expect(error.code == .handler)
    #expect(error.endpoint.template == "/outer")
    #expect((error.underlying as? CallError)?.status == 404)
  }

  @Test("Sentences can be the app's own, in any language")
  func texts() async throws {
    let stub = StubTransport()
    stub.onAny(reply: .status(404))
    let api = Client(baseURL: "https://example.test", transport: stub) {
      $0.settings.errorTexts = ErrorTexts { "Fehler \($0.code.rawValue) \($0.status ?? 0)" }
    }
    #expect(await failure { try await api.send(.ping) }?.errorDescription == "Fehler rejected 404")
  }
}

import Apus
import ApusTesting
import HTTPTypes
import Testing

@Suite("17: codes of errors")
struct Capability17CodesTests {
  private struct Cause: Error {}

  @Test(
    "Each transport failure causes an error with the same code and cause, and with a message",
    arguments: [
      .offline, .hostNotFound, .connectionFailed, .tls, .connectionLost, .malformedResponse, .contentTooLarge, .timeout,
      .refused, .invalidRequest,
    ] as [CallError.Code], [CallPhase.connecting, .receiving])
  func transportErrors(code: CallError.Code, phase: CallPhase) async throws {
    let stub = StubTransport()
    let thrown = TransportError(
      code, in: code == .timeout ? phase : nil, requestState: .maybeSent, underlying: Cause())
    stub.onAny(reply: .failure(thrown))
    let api = Client(baseURL: "https://example.test", transport: stub) { $0.retry = .none }
    let error = try #require(await failure { try await api.send(.ping) })
    #expect(error.code == code)
    #expect(error.isUnreachable == [.offline, .hostNotFound, .connectionFailed].contains(code))
    #expect(error.isCancellation == false && error.isThrottled == false)
    #expect(error.underlying is Cause)
    #expect(error.requestState == .maybeSent)
    #expect(error.errorDescription?.hasSuffix(".") == true)
    #expect(error.errorDescription?.contains("Error") == false)
    if code == .timeout { #expect(error.phase == phase) }
  }

  @Test("A rejection with a reason has the server's message; a rejection without a reason has no message")
  func refusals() async throws {
    let stub = StubTransport()
    stub.on(.get, "/ping", replies: [.json(#"{"message":"No."}"#, status: 400), .status(400)])
    let api = Client(baseURL: "https://example.test", transport: stub)
    #expect(await failure { try await api.send(.ping) }?.rejection?.message == "No.")
    let silent = await failure { try await api.send(.ping) }
    #expect(silent?.code == .rejected && silent?.rejection?.message == nil)
  }

  @Test("The codes of local failures are encoding, decoding, invalidRequest and handler")
  func ownSide() async throws {
    let stub = StubTransport()
    stub.onAny(reply: .json("{}"))
    let api = Client(baseURL: "https://example.test", transport: stub)
    let encoding = await failure { try await api.send(.post("/a", content: .json([Double.nan]))) }
    let decoding = await failure { try await api.send(Request<User>.get("/a")) }
    let invalid = await failure { try await api.send(.get("/\("..")")) }
    let handler = await failure { try await api.withResponse(to: .ping) { _ in throw Cause() } }
    #expect(encoding?.code == .encoding)
    #expect(decoding?.code == .decoding)
    #expect(invalid?.code == .invalidRequest)
    #expect(handler?.code == .handler)
    #expect(handler?.underlying is Cause)
  }

  @Test("If a closure throws another call's error, the call's code is handler")
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

  @Test("Apps can replace the messages of errors, in any language")
  func texts() async throws {
    let stub = StubTransport()
    stub.onAny(reply: .status(404))
    let api = Client(baseURL: "https://example.test", transport: stub) {
      $0.errorTexts = ErrorTexts { "Fehler \($0.code.rawValue) \($0.status ?? 0)" }
    }
    #expect(await failure { try await api.send(.ping) }?.errorDescription == "Fehler rejected 404")
  }
}

import Apus
import ApusTestServer
import Testing

@Suite("16: error content of a server")
struct Capability16ServerErrorsTests {
  private func refusal(_ reply: Reply, of request: Request<Void> = .ping) async throws -> CallError {
    try await withServer(answering: reply) { api, _ in
      try #require(await failure { try await api.send(request) })
    }
  }

  @Test("A problem is decoded with type, title, detail and extension members (RFC 9457)")
  func problem() async throws {
    let json = #"{"type":"https://e.test/credit","title":"No credit","detail":"Balance 30, cost 50.","balance":30}"#
    let error = try await refusal(
      .json(json, status: 403, fields: ["Content-Type": "application/problem+json; charset=utf-8"]))
    let problem = try #require(error.rejection?.problem)
    #expect(problem.type == "https://e.test/credit")
    #expect(problem.title == "No credit")
    #expect(problem.member("balance", as: Int.self) == 30)
    #expect(error.errorDescription == "Balance 30, cost 50.")
  }

  @Test(
    "The server's message and code are read from common error envelopes",
    arguments: [
      (#"{"code":1042,"message":"Name taken"}"#, "Name taken", "1042"),
      (#"{"error":"Name taken"}"#, "Name taken", nil),
      (#"{"error":{"code":"E7","message":"Name taken"}}"#, "Name taken", "E7"),
      (#"{"errors":["Name taken","x"]}"#, "Name taken", nil),
      (#"{"errors":[{"message":"Name taken"}]}"#, "Name taken", nil),
      (#"{"error":"invalid_grant","error_description":"Name taken"}"#, "Name taken", "invalid_grant"),
      (#"{"status_code":7,"status_message":"Name taken"}"#, "Name taken", "7"),
    ] as [(String, String, String?)])
  func envelopes(json: String, message: String, code: String?) async throws {
    let error = try await refusal(.json(json, status: 422))
    #expect(error.rejection?.message == message)
    #expect(error.rejection?.code == code)
    #expect(error.errorDescription == message)
    #expect(error.status == 422)
  }

  @Test("An envelope that reports a failure is a rejection, whatever the status")
  func envelopeInSuccess() async throws {
    try await withServer(answering: .json(#"{"code":17,"message":"Not today","data":null}"#)) { api, _ in
      let error = await failure { try await api.send(Request<User>.get("/a").enveloped(EnvelopeFormat())) }
      #expect(error?.code == .rejected)
      #expect(error?.rejection?.code == "17")
      #expect(error?.errorDescription == "Not today")
    }
  }

  private struct FormErrors: Decodable, Sendable, Equatable {
    var fields: [String: String]
  }

  @Test("An endpoint's own error type is decoded and can be returned as a value")
  func ownType() async throws {
    try await withServer(answering: .json(#"{"fields":{"name":"too short"}}"#, status: 422)) { api, _ in
      let request = Request<Void>.post("/users")
      let error = await failure { try await api.send(request.rejecting(as: FormErrors.self)) }
      #expect(error?.rejection(as: FormErrors.self) == FormErrors(fields: ["name": "too short"]))
      guard case .rejected(let form) = try await api.outcome(of: request, rejectedAs: FormErrors.self) else {
        Issue.record("accepted")
        return
      }
      #expect(form == FormErrors(fields: ["name": "too short"]))
    }
  }

  @Test(
    "The error of a rejection with unstructured or invalid content has the status and the bytes",
    arguments: [[], Array("<html>502</html>".utf8), [0, 255, 254], Array("[1,2".utf8), Array("\"text\"".utf8)])
  func anyContent(bytes: [UInt8]) async throws {
    for type in ["text/html", "application/json", "application/problem+json", ""] {
      let error = try await refusal(.status(502, fields: ["Content-Type": type], content: bytes))
      #expect(error.code == .rejected)
      #expect(error.status == 502)
      #expect(error.content.map { Array($0.data) } == bytes)
      #expect(error.errorDescription == "The server has a problem. Try again later.")
    }
  }

  @Test("An error has the delay that the server requested with Retry-After")
  func retryAfter() async throws {
    #expect(try await refusal(.status(429, fields: ["Retry-After": "7"])).retryAfter == .seconds(7))
  }

  @Test("A streamed rejection is read up to the limit for errors")
  func streamed() async throws {
    try await withServer(answering: .json(#"{"message":"Gone"}"#, status: 410)) { api, _ in
      let error = await failure { try await api.withResponse(to: .ping) { _ in } }
      #expect(error?.rejection?.message == "Gone")
    }
  }
}

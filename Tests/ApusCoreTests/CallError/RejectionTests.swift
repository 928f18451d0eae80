import ApusTesting
import HTTPTypes
import Testing

@testable import ApusCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Rejections") struct RejectionTests {
  private func refusal(_ answer: StubReply) async throws -> CallError {
    try #require(
      await failure {
        try await client(answering: answer).send(Request<Int>.get("/x"))
      })
  }

  @Test(
    "The message and the code are found under all common keys",
    arguments: [
      (#"{"code":5,"message":"m","error":"e"}"#, "m", "5"), (#"{"code":"E5","message":"m"}"#, "m", "E5"),
      (#"{"status_code":7,"status_message":"Invalid API key","success":false}"#, "Invalid API key", "7"),
      (#"{"error":"invalid_grant","error_description":"Expired"}"#, "Expired", "invalid_grant"),
      (#"{"error":"gone"}"#, nil, "gone"), (#"{"error":{"message":"nested","code":42}}"#, "nested", "42"),
      (#"{"error":{"code":"X"}}"#, nil, "X"), (#"{"errors":["first","second"]}"#, "first", nil),
      (#"{"errors":[{"title":"t","detail":"d","code":"c1"}]}"#, "d", "c1"), (#"{"errors":[]}"#, nil, nil),
      (#"{"message":["a must be b","c"],"error":"Bad Request"}"#, "a must be b", nil),
      (#"{"detail":"why","title":"what"}"#, "why", nil), (#"{"title":"what"}"#, "what", nil),
      (#"{"message":"","error":"e"}"#, nil, "e"), (#"{"message":5,"code":1.5}"#, nil, "1.5"),
      (#"{"error_code":3,"message":"m"}"#, "m", "3"), (#"{"code":null,"error":true}"#, nil, nil), ("[]", nil, nil),
      ("7", nil, nil), (#""text""#, nil, nil), ("{}", nil, nil), ("", nil, nil), ("{", nil, nil),
      (#"{"error":{"error":{"error":"deep"}}}"#, nil, "deep"), (#"{"code":12345678901}"#, nil, "12345678901"),
      (#"{"errors":{"name":["taken"]}}"#, "name: taken", nil), (#"{"errors":[[]]}"#, nil, nil),
    ] as [(String, String?, String?)])
  func shapes(json: String, message: String?, code: String?) async throws {
    let error = try await refusal(.json(json, status: 422))
    let rejection = try #require(error.rejection)
    #expect(rejection.message == message)
    #expect(rejection.code == code)
    #expect(rejection.status == 422 && error.status == 422)
    #expect(error.content?.data == Data(json.utf8))
    #expect(message == nil || error.errorDescription == message)
  }

  @Test("A problem is read with its extensions, and members of the wrong type are ignored")
  func problem() async throws {
    let json = #"""
      {"type":"https://example.com/out-of-credit","title":"No credit","status":"403","detail":"30, but it costs 50",
       "instance":7,"balance":30,"accounts":["/a","/b"],"deep":{"x":[null,true]}}
      """#
    let fields: HTTPFields = [.contentType: "application/problem+json; charset=utf-8"]
    let error = try await refusal(.json(json, status: 403, fields: fields))
    let problem = try #require(error.rejection?.problem)
    #expect(problem.type == "https://example.com/out-of-credit")
    #expect(problem.title == "No credit")
    #expect(problem.status == nil && problem.instance == nil)
    #expect(problem.detail == "30, but it costs 50")
    #expect(problem.extensions["balance"] == .number(30))
    #expect(problem.member("accounts", as: [String].self) == ["/a", "/b"])
    #expect(problem.member("balance", as: String.self) == nil)
    #expect(problem.member("none", as: String.self) == nil)
    #expect(problem.extensions["deep"]?["x"] == .array([.null, .bool(true)]))
    #expect(error.rejection?.message == "30, but it costs 50")
  }

  @Test("A problem without a type has the type about:blank, and a problem that is not an object is ignored")
  func blank() async throws {
    let fields: HTTPFields = [.contentType: "application/problem+json"]
    let blank = try await refusal(.json(#"{"status":500}"#, status: 500, fields: fields))
    #expect(blank.rejection?.problem?.type == "about:blank")
    #expect(blank.rejection?.problem?.status == 500)
    let none = try await refusal(.json("[1]", status: 500, fields: fields))
    #expect(none.rejection?.problem == nil)
  }

  @Test("A rejection that is not JSON has neither message nor code, and its error has the status and the bytes")
  func others() async throws {
    let answers: [StubReply] = [
      .text("no {", status: 500), .text("<html>", status: 502, fields: [.contentType: "text/html"]), .status(503),
      .bytes(Data([0, 255, 254]), status: 400), .text(#"{"message":"not JSON by its type"}"#, status: 418),
    ]
    for (answer, status) in zip(answers, [500, 502, 503, 400, 418]) {
      let error = try await refusal(answer)
      #expect(error.code == .rejected && error.status == status)
      #expect(error.rejection?.message == nil && error.rejection?.code == nil)
    }
    #expect(try await refusal(.bytes(Data([0, 255]), status: 400)).content?.data == Data([0, 255]))
  }

  @Test("A JSON object without a media type is read")
  func untyped() throws {
    let content = Content(data: Data(#"{"message":"m"}"#.utf8), mediaType: nil, status: 400)
    #expect(Rejection(content, decoder: nil).message == "m")
    #expect(Rejection(Content(data: Data("[]".utf8), status: 400), decoder: nil).message == nil)
  }

  @Test("Content of more than a megabyte is not parsed, and the error contains a part of the content")
  func large() async throws {
    let json = #"{"message":"m","x":""# + String(repeating: "x", count: 1 << 20) + #""}"#
    let error = try await refusal(.json(json, status: 500))
    #expect(error.rejection?.message == nil)
    #expect(error.content?.data.count == CallError.contentLimit)
  }

  @Test(
    "The error's message is the server's sentence for a status of 4xx, and a standard sentence for any other status",
    arguments: [
      (400, "Name is taken"), (422, "Name is taken"), (500, "The server has a problem. Try again later."),
      (503, "The server has a problem. Try again later."), (399, "The server could not do this."),
      (600, "The server could not do this."),
    ])
  func shownSentence(status: Int, message: String) async throws {
    let error = try await refusal(.json(#"{"message":"Name is taken"}"#, status: status))
    #expect(error.message == message && error.errorDescription == message)
    #expect(error.rejection?.message == "Name is taken")
  }

  @Test("A rejection can be decoded as the endpoint's own type")
  func ownType() async throws {
    struct Invalid: Decodable, Sendable, Equatable { var fields: [String] }
    let api = client(answering: .json(#"{"fields":["name"]}"#, status: 422))
    let request = Request<Int>.post("/x").rejecting(as: Invalid.self)
    let error = await failure { try await api.send(request) }
    #expect(error?.rejection(as: Invalid.self) == Invalid(fields: ["name"]))
    #expect(error?.rejection(as: Int.self) == nil)
    guard case .rejected(let invalid) = try await api.outcome(of: request, rejectedAs: Invalid.self) else {
      return #expect(Bool(false), "accepted")
    }
    #expect(invalid.fields == ["name"])
  }

  @Test("A rejection that does not match the type is thrown, and an accepted response is returned as the value")
  func otherShape() async throws {
    struct Invalid: Decodable, Sendable { var fields: [String] }
    let error = await failure {
      try await client(answering: .text("no", status: 500)).outcome(
        of: Request<Int>.get("/x"), rejectedAs: Invalid.self)
    }
    #expect(error?.code == .rejected && error?.status == 500)
    let outcome = try await client(answering: .json("7")).outcome(of: Request<Int>.get("/x"), rejectedAs: Invalid.self)
    guard case .accepted(7) = outcome else { return #expect(Bool(false), "rejected") }
  }

  private struct FormErrors: Decodable, Sendable { var fields: [String] }

  @Test("If an endpoint declares the type of its rejections, every call returns rejections as values")
  func declaredOnce() async throws {
    let signUp: Request<Outcome<Int, FormErrors>> = Request<Int>.post("/accounts").outcome().tag("sign-up")
    let rejecting = client(answering: .json(#"{"fields":["name"]}"#, status: 422))
    guard case .rejected(let form) = try await rejecting.send(signUp) else { return #expect(Bool(false), "accepted") }
    #expect(form.fields == ["name"])
    let response = try await rejecting.response(to: signUp)
    guard case .rejected = response.value else { return #expect(Bool(false), "accepted") }
    #expect(response.status == 422)
    guard case .accepted(7) = try await client(answering: .json("7")).send(signUp) else {
      return #expect(Bool(false), "rejected")
    }
  }

  @Test("A rejection that does not match the declared type is thrown, and so is every other failure")
  func declaredButOther() async throws {
    let signUp = Request<Int>.post("/accounts").outcome(rejectedAs: FormErrors.self)
    for (answer, code) in [(StubReply.text("no", status: 500), CallError.Code.rejected), (.text("no"), .decoding)] {
      let api = client(answering: answer)
      let error = await failure { try await api.send(signUp) }
      #expect(error?.code == code)
    }
  }

  @Test("The error has the delay of Retry-After")
  func retryAfter() async throws {
    #expect(try await refusal(.status(503, fields: [.retryAfter: "7"])).retryAfter == .seconds(7))
    #expect(try await refusal(.status(503)).retryAfter == nil)
  }
}

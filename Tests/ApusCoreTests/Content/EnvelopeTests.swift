import ApusTesting
import Testing

@testable import ApusCore

private struct User: Codable, Sendable, Equatable { var id: Int }

@Suite("Envelopes") struct EnvelopeTests {
  private let ask = Request<User>.get("/x").enveloped(EnvelopeFormat())

  @Test(
    "The success code of an envelope may be a number or a string",
    arguments: [#""code":0"#, #""code":"0""#, #""code":200"#, #""code":"200""#, #""code":0,"extra":null"#])
  func success(code: String) async throws {
    let api = client(answering: .json("{\(code),\"message\":\"ok\",\"data\":{\"id\":7}}"))
    #expect(try await api.send(ask) == User(id: 7))
  }

  @Test("The success code of an envelope may be a Boolean")
  func truth() async throws {
    let format = EnvelopeFormat(code: "success", message: "error", data: "result", successCodes: ["true"])
    let request = Request<User>.get("/x").enveloped(format)
    #expect(try await client(answering: .json(#"{"success":true,"result":{"id":1}}"#)).send(request) == User(id: 1))
    let error = await failure {
      try await client(answering: .json(#"{"success":false,"error":"taken"}"#)).send(request)
    }
    #expect(error?.rejection?.code == "false")
    #expect(error?.rejection?.message == "taken")
  }

  @Test("Any other code in an envelope is a rejection, independent of the status")
  func rejection() async {
    let api = client(answering: .json(#"{"code":1042,"message":"Name is taken","data":{"id":7}}"#))
    let error = await failure { try await api.send(ask) }
    #expect(error?.code == .rejected)
    #expect(error?.status == 200)
    #expect(error?.rejection?.code == "1042")
    #expect(error?.rejection?.message == "Name is taken")
    #expect(error?.errorDescription == "Name is taken")
  }

  @Test("A rejection in an envelope can be decoded as the endpoint's own type")
  func ownRejection() async throws {
    struct Refused: Decodable, Sendable, Equatable {
      var code: Int
      var fields: [String]
    }
    let api = client(answering: .json(#"{"code":9,"fields":["name"]}"#))
    let outcome = try await api.outcome(of: ask, rejectedAs: Refused.self)
    guard case .rejected(let refused) = outcome else { return #expect(Bool(false), "accepted") }
    #expect(refused == Refused(code: 9, fields: ["name"]))
  }

  @Test("Void requests check the envelope, too, unless the response has no content")
  func void() async throws {
    var coding = CodingOptions()
    coding.envelope = EnvelopeFormat()
    try await client(answering: .json(#"{"code":0}"#), coding: coding).send(Request<Void>.post("/x"))
    try await client(answering: .status(204), coding: coding).send(Request<Void>.post("/x"))
    let error = await failure {
      try await client(answering: .json(#"{"code":3,"message":"no"}"#), coding: coding).send(Request<Void>.post("/x"))
    }
    #expect(error?.code == .rejected && error?.rejection?.message == "no")
  }

  @Test("A client's envelope applies to every decoded response")
  func ofClient() async throws {
    var coding = CodingOptions()
    coding.envelope = EnvelopeFormat()
    let api = client(answering: .json(#"{"code":0,"data":[{"id":1}]}"#), coding: coding)
    #expect(try await api.send(Request<[User]>.get("/x")) == [User(id: 1)])
  }

  @Test("Missing or null data in an envelope is nil for an optional, otherwise a decoding error")
  func missingData() async throws {
    for json in [#"{"code":0}"#, #"{"code":0,"data":null}"#] {
      let api = client(answering: .json(json))
      #expect(try await api.send(Request<User?>.get("/x").enveloped(EnvelopeFormat())) == nil)
      let error = await failure { try await api.send(ask) }
      #expect(error?.code == .decoding)
      #expect(error?.codingPath == "data")
    }
  }

  @Test(
    "An envelope without a readable code is a decoding error",
    arguments: ["{}", #"{"code":null,"data":{"id":1}}"#, #"{"code":[],"data":{"id":1}}"#, "[]", "7", "{"])
  func noCode(json: String) async {
    let error = await failure { try await client(answering: .json(json)).send(ask) }
    #expect(error?.code == .decoding)
  }

  @Test("A message in an envelope that is not a string is ignored")
  func oddMessage() async {
    let error = await failure {
      try await client(answering: .json(#"{"code":5,"message":{"a":1}}"#)).send(ask)
    }
    #expect(error?.rejection?.code == "5" && error?.rejection?.message == nil)
  }

  @Test("Snake case applies to the envelope's keys and its value, and to the coding path")
  func snakeCase() async throws {
    struct Long: Decodable, Sendable { var longName: Int }
    let format = EnvelopeFormat(code: "status_code", message: "status_message", data: "result_set")
    let request = Request<Long>.get("/x").enveloped(format).json(.snakeCase)
    let good = client(answering: .json(#"{"status_code":0,"result_set":{"long_name":4}}"#))
    #expect(try await good.send(request).longName == 4)
    let bad = client(answering: .json(#"{"status_code":0,"result_set":{"long_name":"x"}}"#))
    let error = await failure { try await bad.send(request) }
    #expect(error?.codingPath?.hasSuffix("longName") == true)
    let no = client(answering: .json(#"{"status_code":7,"status_message":"Invalid key"}"#))
    let refusal = await failure { try await no.send(request) }
    #expect(refusal?.rejection?.message == "Invalid key")
  }
}

import ApusCore
import ApusMiddleware
import ApusTesting
import HTTPTypes
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Common fields and parameters")
struct CommonParametersMiddlewareTests {
  private let stub = StubTransport.answering()
  private let client = TestClient()

  @Test("Every endpoint's request has the common fields and parameters")
  func everyEndpoint() async throws {
    var client = self.client
    client.environment.setField("X-App", "apus/1")
    client.environment.query = ["lang": "en", "tags": ["a", "b"]]
    let api = client.over(stub)
    try await api.send(.get("/a"))
    try await api.send(.post("/b", query: ["x": 1], content: .json(["y": 2])))
    try await api.send(.delete("/c"))
    #expect(stub.exchanges.map { $0.fields[text: "X-App"] } == ["apus/1", "apus/1", "apus/1"])
    #expect(
      stub.exchanges.map(\.target) == [
        "/v1/a?lang=en&tags=a&tags=b", "/v1/b?x=1&lang=en&tags=a&tags=b", "/v1/c?lang=en&tags=a&tags=b",
      ])
  }

  @Test("The call's own field replaces the common field, case-insensitively", arguments: ["X-App", "x-app", "X-APP"])
  func ownFieldWins(name: String) async throws {
    var client = self.client
    client.environment.setField("X-App", "common")
    try await client.over(stub).send(.ping.field(name, "own"))
    let lines = stub.exchanges[0].fields.filter { $0.name.canonicalName == "x-app" }.map(\.value)
    #expect(lines == ["own"])
  }

  @Test("The call's own parameter replaces the common parameter, and the other common parameters are added")
  func ownParameterWins() async throws {
    var client = self.client
    client.environment.query = ["lang": "en", "page size": 10]
    try await client.over(stub).send(.get("/a", query: ["page size": 99]))
    #expect(stub.exchanges[0].target == "/v1/a?page%20size=99&lang=en")
  }

  @Test("A parameter in the base URL's query replaces the common parameter")
  func baseQuery() async throws {
    var client = TestClient("https://api.example.com/v1?lang=de")
    client.environment.query = ["lang": "en", "region": "eu"]
    try await client.over(stub).send(.get("/a"))
    #expect(stub.exchanges[0].target == "/v1/a?lang=de&region=eu")
  }

  @Test("Without common parameters there is no lone question mark")
  func absent() async throws {
    var client = self.client
    client.environment.query = ["lang": nil as String?]
    try await client.over(stub).send(.get("/a"))
    #expect(stub.exchanges[0].target == "/v1/a")
  }

  @Test("Parameter names are compared after percent-decoding")
  func encodedNames() async throws {
    var client = self.client
    client.environment.query = ["filter[year]": 1, "naïve": 1]
    try await client.over(stub).send(.get("/a?filter%5Byear%5D=2&na%C3%AFve=2"))
    #expect(stub.exchanges[0].target == "/v1/a?filter%5Byear%5D=2&na%C3%AFve=2")
  }

  @Test("A common Accept field replaces the built-in Accept field")
  func acceptBeatsBuiltIn() async throws {
    var client = self.client
    client.environment.setField("accept", "application/vnd.example+json")
    let api = client.over(StubTransport.answering(.json("1")))
    let message = try await api.message(for: Request<Int>.get("/a"))
    #expect(message.head.headerFields[.accept] == "application/vnd.example+json")
    #expect(message.head.headerFields.count { $0.name == .accept } == 1)
  }

  @Test("An endpoint's Accept field replaces the common field, whether set explicitly or by its parser")
  func endpointAcceptBeatsCommon() async throws {
    var client = self.client
    client.environment.setField("Accept", "application/vnd.example+json")
    let api = client.over(stub)
    let byHand = try await api.message(for: Request<Int>.get("/a").field("ACCEPT", "application/json"))
    #expect(byHand.head.headerFields[.accept] == "application/json")
    let csv = ResponseMapping<String>(accept: "text/csv") { String(decoding: $0.data, as: UTF8.self) }
    let byParser = try await api.message(for: Request<Int>.get("/a").mapped(by: csv))
    #expect(byParser.head.headerFields[.accept] == "text/csv")
  }

  @Test("A common Content-Type is added only to content without a Content-Type")
  func contentType() async throws {
    var client = self.client
    client.environment.setField("content-type", "application/x-common")
    let api = client.over(stub)
    try await api.send(.get("/a"))
    try await api.send(.post("/a", content: .json(1)))
    try await api.send(.post("/a", content: RequestContent(nil) { _ in .bytes(.init([1])) }))
    #expect(
      stub.exchanges.map { $0.fields[.contentType] } == [nil, "application/json", "application/x-common"])
  }

  @Test(
    "An invalid common field fails the call with invalidRequest before sending, without its value in the error",
    arguments: [("X-A", "a\r\nX-Evil: 1"), ("X A", "v"), ("", "v"), ("Content-Length", "9"), ("Host", "evil")])
  func malformedField(name: String, value: String) async throws {
    var client = self.client
    client.environment.fields = [RawField(name, value)]
    let error = try #require(await failure { try await client.over(stub).send(.ping) })
    #expect(error.code == .invalidRequest)
    #expect(error.requestState == .notSent)
    #expect(stub.exchanges.isEmpty)
    #expect(!texts(of: error).contains("Evil"))
  }

  @Test("An invalid common parameter fails the call with encoding, and the error names the parameter")
  func malformedParameter() async throws {
    var client = self.client
    client.environment.query = ["ratio": Double.nan]
    let error = try #require(await failure { try await client.over(stub).send(.ping) })
    #expect(error.code == .encoding)
    #expect(error.codingPath == "ratio")
    #expect(error.requestState == .notSent)
    #expect(stub.exchanges.isEmpty)
  }

  @Test("A call has the common fields of its own environment, even if the client switches environments meanwhile")
  func switching() async throws {
    var staging = Environment("staging", baseURL: "https://staging.example.com")
    staging.setField("X-Env", "staging")
    var client = self.client
    client.environment.setField("X-Env", "production")
    let gate = Gate()
    let stub = StubTransport.answering(.status(204).waiting(for: gate))
    let api = client.over(stub)
    async let first: Void = api.send(.get("/a"))
    try await gate.waitForArrivals(1)
    api.use(staging)
    async let second: Void = api.send(.get("/b"))
    try await gate.waitForArrivals(2)
    gate.open()
    _ = try await (first, second)
    #expect(stub.exchanges.map(\.request.url) == ["https://api.example.com/v1/a", "https://staging.example.com/b"])
    #expect(stub.exchanges.map { $0.fields[text: "X-Env"] } == ["production", "staging"])
    #expect(stub.exchanges.map(\.environment) == ["default", "staging"])
  }
}

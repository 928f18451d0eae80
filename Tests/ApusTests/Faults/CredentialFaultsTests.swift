import Apus
import ApusTesting
import HTTPTypes
import Logging
import Testing

@Suite("Credential and field faults that must not occur")
struct CredentialFaultsTests {
  private let stub = StubTransport()

  private func client(_ configure: (inout Configuration) -> Void = { _ in }) -> Client {
    stub.onAny(reply: .status(204))
    return Client(baseURL: "https://example.test", transport: stub, configure: configure)
  }

  @Test("A token that is set is sent")
  func tokenNeverSent() async throws {
    let api = client { $0.authentication = .bearer(MemoryCredentialsStore(token: "t")) }
    try await api.send(.get("/a"))
    try await api.send(.post("/a", content: .form(["x": 1])))
    try await api.withResponse(to: .get("/a")) { _ in }
    #expect(stub.exchanges.map { $0.fields[.authorization] } == ["Bearer t", "Bearer t", "Bearer t"])
  }

  @Test("A token is sent for an endpoint without fields")
  func tokenLostWithoutFields() async throws {
    struct Bare: Endpoint {
      var request: Request<Void> { .get("/bare") }
    }
    let api = client { $0.authentication = .bearer(MemoryCredentialsStore(token: "t")) }
    try await api.send(Bare())
    #expect(stub.exchanges[0].fields[.authorization] == "Bearer t")
  }

  @Test("An endpoint's fields are sent")
  func fieldsNeverApplied() async throws {
    struct WithFields: Endpoint {
      var request: Request<Void> { Request.get("/a").field("X-One", "1").field("X-Two", "2") }
    }
    try await client().send(WithFields())
    #expect(stub.exchanges[0].fields.contains { $0.name.canonicalName == "x-one" && $0.value == "1" })
    #expect(stub.exchanges[0].fields.contains { $0.name.canonicalName == "x-two" && $0.value == "2" })
  }

  @Test("A GET has no Content-Type, even if it is a common field")
  func contentTypeOnGet() async throws {
    let api = client { $0.setField("Content-Type", "application/json") }
    try await api.send(.get("/a"))
    try await api.send(.head("/a"))
    #expect(stub.exchanges.allSatisfy { $0.fields[.contentType] == nil })
  }

  @Test("API keys and content are neither printed nor logged")
  func printedToTheLog() async throws {
    let log = LogRecorder()
    let api = client {
      $0.authentication = .bearer(MemoryCredentialsStore(token: "s3cr3t"))
      $0.logging = RequestLogging(log.logger())
    }
    stub.onAny(reply: .json(#"{"key":"s3cr3t"}"#, status: 400))
    let error = await failure { try await api.send(.post("/a", content: .json(["key": "s3cr3t"]))) }
    let lines = log.lines.all.map(\.text)
    #expect(lines.count == 2)
    #expect(!(lines + ["\(String(describing: error))"]).contains { $0.contains("s3cr3t") })
  }

  @Test("Two clients share no state, and there is no global configuration")
  func unsetGlobal() async throws {
    let other = StubTransport()
    other.onAny(reply: .status(204))
    let first = client { $0.setField("X-App", "one") }
    let second = Client(baseURL: "https://other.test", transport: other)
    try await first.send(.ping)
    try await second.send(.ping)
    #expect(other.exchanges[0].fields.count == 1)
    #expect(first.calls !== second.calls)
  }
}

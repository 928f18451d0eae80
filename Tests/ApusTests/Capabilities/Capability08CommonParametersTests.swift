import Apus
import ApusTestServer
import Testing

@Suite("8: parameters and fields common to every call")
struct Capability08CommonParametersTests {
  private struct GetUser: Endpoint {
    var request: Request<User> { .get("/users/1", query: ["lang": "de"]) }
  }

  @Test("The server receives the common parameters and fields with every call, unless the call has its own value")
  func everyEndpoint() async throws {
    try await TestServer.with { _ in
      .json(#"{"id":1,"name":"a"}"#)
    } body: { server in
      let api = server.client {
        $0.setField("X-App", "film/3")
        $0.query = ["lang": "en", "region": "eu"]
      }
      let _: User = try await api.send(Request.get("/users/1"))
      _ = try await api.send(GetUser())
      try await api.send(.post("/users", content: .json([1])).field("x-app", "own"))
      try await api.withResponse(to: .get("/raw")) { _ in }
      #expect(
        server.exchanges.map(\.target) == [
          "/users/1?lang=en&region=eu", "/users/1?lang=de&region=eu", "/users?lang=en&region=eu",
          "/raw?lang=en&region=eu",
        ])
      #expect(
        server.exchanges.map { $0.fields.values(of: "X-App") } == [["film/3"], ["film/3"], ["own"], ["film/3"]])
    }
  }
}

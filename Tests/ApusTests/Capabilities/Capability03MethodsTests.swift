import Apus
import ApusTestServer
import HTTPTypes
import Testing

@Suite("3: methods")
struct Capability03MethodsTests {
  @Test("The server receives the exact token of every method, and the content if there is any")
  func tokens() async throws {
    try await withServer { api, server in
      try await api.send(.get("/a"))
      try await api.send(.head("/a"))
      try await api.send(.post("/a", content: .json([1])))
      try await api.send(.put("/a", content: .json([1])))
      try await api.send(.patch("/a", content: .json([1])))
      try await api.send(.delete("/a"))
      try await api.send(.delete("/a", content: .json([1])))
      try await api.send(.options("/a"))
      try await api.send(.method(.query, "/a", content: .json([1])))
      try await api.send(.method(HTTPRequest.Method("PURGE")!, "/a"))
      try await api.send(.method(HTTPRequest.Method("X-MERGE")!, "/a", content: .json([1])))
      #expect(
        server.exchanges.map(\.method) == [
          "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "DELETE", "OPTIONS", "QUERY", "PURGE", "X-MERGE",
        ])
      #expect(
        server.exchanges.map(\.text) == ["", "", "[1]", "[1]", "[1]", "", "[1]", "", "[1]", "", "[1]"])
    }
  }

  @Test("HEAD returns the head without waiting for the announced content")
  func head() async throws {
    try await withServer(answering: .text("0123456789", fields: ["ETag": "\"v1\""])) { api, _ in
      let response = try await api.response(to: .head("/a"))
      #expect(response.head.status == .ok)
      #expect(response.head.headerFields[.eTag] == "\"v1\"")
    }
  }

  @Test("POST without content sends Content-Length: 0")
  func emptyPost() async throws {
    try await withServer { api, server in
      try await api.send(.post("/a"))
      #expect(server.exchanges[0].fields["Content-Length"] == "0")
      #expect(server.exchanges[0].fields["Content-Type"] == nil)
    }
  }
}

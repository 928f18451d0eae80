import Apus
import ApusTestServer
import Testing

@Suite("7: default fields")
struct Capability07DefaultFieldsTests {
  @Test("Accept is always sent; Content-Type is sent only with content")
  func defaults() async throws {
    try await withServer(answering: .json("7")) { api, server in
      _ = try await api.send(Request<Int>.get("/a"))
      try await api.send(.get("/a"))
      _ = try await api.send(Request<Int>.post("/a", content: .json(1)))
      try await api.send(.delete("/a"))
      #expect(
        server.exchanges.map { $0.fields["Accept"] } == ["application/json", "*/*", "application/json", "*/*"])
      #expect(server.exchanges.map { $0.fields["Content-Type"] } == [nil, nil, "application/json", nil])
    }
  }

  @Test("A client's field overrides the default field, and an endpoint's field overrides both, case-insensitively")
  func precedence() async throws {
    try await TestServer.with { _ in
      .json("7")
    } body: { server in
      let api = server.client {
        $0.setField("ACCEPT", "application/vnd.v2+json")
        $0.setField("X-Client", "client")
        $0.setField("User-Agent", "Film/3")
      }
      _ = try await api.send(Request<Int>.get("/a"))
      _ = try await api.send(
        Request<Int>.post("/a", content: .json(1)).field("accept", "text/csv").field("x-CLIENT", "endpoint")
          .field("content-type", "application/x-own").field("user-agent", "Endpoint/1"))
      let fields = server.exchanges.map { exchange in
        ["accept", "x-client", "user-agent", "content-type"].map { exchange.fields.values(of: $0) }
      }
      #expect(
        fields == [
          [["application/vnd.v2+json"], ["client"], ["Film/3"], []],
          [["text/csv"], ["endpoint"], ["Endpoint/1"], ["application/x-own"]],
        ])
    }
  }

  @Test("An endpoint's fields are sent unchanged")
  func reachWire() async throws {
    try await withServer { api, server in
      try await api.send(.get("/a").field("X-One", "a, b").field("X-Two", "é").field("X-Empty", ""))
      let fields = server.exchanges[0].fields
      #expect(fields["X-One"] == "a, b")
      #expect(fields["X-Two"] == "é")
      #expect(fields["X-Empty"] == "")
    }
  }

  @Test(
    "Framing fields and malformed fields are refused, and nothing is sent",
    arguments: [
      ("Host", "evil"), ("Content-Length", "0"), ("Transfer-Encoding", "chunked"), ("Connection", "close"),
      ("X-A", "a\r\nX-B: c"), ("X-A", "a\0"), ("X\r\nY", "a"), ("X Y", "a"), ("", "a"), (":path", "/"),
    ])
  func refused(name: String, value: String) async throws {
    try await withServer { api, server in
      let error = await failure { try await api.send(.get("/a").field(name, value)) }
      #expect(error?.code == .invalidRequest)
      #expect(server.exchanges.isEmpty)
    }
  }
}

import Apus
import ApusTestServer
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("40: another server by configuration alone")
struct Capability40ConfigurationTests {
  private struct Film: Codable, Sendable, Equatable {
    var releaseDate: Date
    var title: String
  }

  /// The unchanged part of an app.
  private struct Films: Sendable {
    let api: Client

    func film(_ id: Int) async throws(CallError) -> Film { try await api.send(Request.get("/films/\(id)")) }
    func add(_ film: Film) async throws(CallError) { try await api.send(.post("/films", content: .json(film))) }
  }

  private let film = Film(releaseDate: Date(timeIntervalSince1970: 1_000_000_000), title: "A")

  @Test("The same service works with a server with other paths, names, dates, credentials and envelopes")
  func moved() async throws {
    try await TestServer.with {
      $0.method == "GET" ? .json(#"{"releaseDate":"2001-09-09T01:46:40Z","title":"A"}"#) : .status(204)
    } body: { server in
      let films = Films(
        api: server.client(path: "/v1") {
          $0.authentication = .bearer(MemoryCredentialsStore(token: "t"))
          $0.json = JSONCoding(dates: .iso8601)
        })
      #expect(try await films.film(7) == film)
      try await films.add(film)
      #expect(server.exchanges.map(\.target) == ["/v1/films/7", "/v1/films"])
      #expect(server.exchanges.allSatisfy { $0.fields["Authorization"] == "Bearer t" })
      #expect(server.exchanges[1].text.contains(#""releaseDate":"2001-09-09T01:46:40Z""#))
    }
    try await TestServer.with {
      .json(
        $0.method == "GET"
          ? #"{"status":"ok","result":{"release_date":1000000000,"title":"A"}}"# : #"{"status":"ok"}"#)
    } body: { server in
      let films = Films(
        api: server.client(path: "/api/films/v3?lang=de") {
          $0.authentication = .apiKey(MemoryCredentialsStore(token: "k"), queryParameter: "api_key")
          $0.json = JSONCoding(keys: .snakeCase, dates: .secondsSince1970)
          $0.envelope = EnvelopeFormat(
            code: "status", message: "text", data: "result", successCodes: ["ok"])
          $0.setField("X-App", "films")
        })
      #expect(try await films.film(7) == film)
      try await films.add(film)
      #expect(
        server.exchanges.map(\.target) == [
          "/api/films/v3/films/7?lang=de&api_key=k", "/api/films/v3/films?lang=de&api_key=k",
        ])
      #expect(server.exchanges.allSatisfy { $0.fields["X-App"] == "films" && $0.fields["Authorization"] == nil })
      #expect(server.exchanges[1].text.contains(#""release_date":1000000000"#))
    }
  }
}

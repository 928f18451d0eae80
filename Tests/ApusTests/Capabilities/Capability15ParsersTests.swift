import Apus
import ApusTestServer
import Testing

@Suite("15: custom parsers")
struct Capability15ParsersTests {
  /// A value that is neither `Codable` nor JSON.
  private struct Table: Sendable, Equatable {
    var rows: [[String]]
  }

  private struct CSVParser: ContentParser {
    struct Empty: Error {}
    var accept: MediaType? { "text/csv" }
    func parse(_ content: Content) throws -> Table {
      let text = String(decoding: content.data, as: UTF8.self)
      guard !text.isEmpty else { throw Empty() }
      return Table(rows: text.split(separator: "\n").map { $0.split(separator: ",").map(String.init) })
    }
  }

  @Test("A custom parser sets its media type and returns a value that need not be Codable")
  func csv() async throws {
    try await withServer(answering: .text("a,b\nc,d", fields: ["Content-Type": "text/csv"])) { api, server in
      let table = try await api.send(Request<Void>.get("/table").parsed(by: CSVParser()))
      #expect(table == Table(rows: [["a", "b"], ["c", "d"]]))
      #expect(server.exchanges[0].fields["Accept"] == "text/csv")
    }
  }

  @Test("A custom parser's error becomes a decoding error with that cause")
  func throwing() async throws {
    try await withServer(answering: .text("")) { api, _ in
      let error = await failure { try await api.send(Request<Void>.get("/table").parsed(by: CSVParser())) }
      #expect(error?.code == .decoding)
      #expect(error?.underlying is CSVParser.Empty)
    }
  }
}

import ApusTesting
import HTTPTypes
import Testing

@testable import ApusCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A value that is not `Decodable`.
private struct Table: Sendable, Equatable { var rows: [[Substring]] }

private struct CSVParser: ContentParser {
  struct Ragged: Error {}
  var accept: MediaType? { "text/csv" }

  func parse(_ content: Content) throws -> Table {
    let rows = String(decoding: content.data, as: UTF8.self).split(separator: "\n").map { $0.split(separator: ",") }
    guard Set(rows.map(\.count)).count == 1 else { throw Ragged() }
    return Table(rows: rows)
  }
}

private struct LengthParser: ContentParser {
  func parse(_ content: Content) -> Int { content.data.count }
}

@Suite("Formats and parsers") struct ContentFormatTests {
  @Test("A custom parser can return a value that is not Decodable")
  func parser() async throws {
    let stub = StubTransport()
    stub.onAny(reply: .text("a,b\nc,d"))
    let api = Client(environment: Environment(baseURL: "https://api.example.com"), transport: stub)
    let table = try await api.send(Request<Void>.get("/table").parsed(by: CSVParser()))
    #expect(table == Table(rows: [["a", "b"], ["c", "d"]]))
    #expect(stub.exchanges.first?.fields[.accept] == "text/csv")
    #expect(try await api.send(Request<Void>.get("/table").parsed(by: LengthParser())) == 7)
    #expect(stub.exchanges.last?.fields[.accept] == "*/*")
  }

  @Test("An error thrown by a parser is the cause of a decoding error")
  func parserThrows() async throws {
    let api = client(answering: .text("a,b\nc"))
    let error = await failure {
      try await api.send(Request<Void>.get("/table").parsed(by: CSVParser()))
    }
    #expect(error?.code == .decoding)
    #expect(error?.underlying is CSVParser.Ragged)
    #expect(error?.content?.data == Data("a,b\nc".utf8))
    #expect(error?.status == 200)
  }

  @Test("A client's default format decodes responses and sets Accept")
  func ownFormat() async throws {
    var coding = CodingOptions()
    coding.format = LineFormat()
    let stub = StubTransport()
    stub.onAny(reply: .text("a\nb"))
    var settings = ClientSettings()
    settings.coding = coding
    let api = Client(
      environment: Environment(baseURL: "https://api.example.com"), transport: stub, settings: settings)
    let lines: [String] = try await api.send(.get("/lines"))
    #expect(lines == ["a", "b"])
    #expect(stub.exchanges.first?.fields[.accept] == "text/x-lines")
    _ = await failure { try await api.send(Request<[Int]>.get("/x").at("data")) }
    #expect(stub.exchanges.last?.fields[.accept] == "application/json")
  }

  @Test("JSONFormat encodes and decodes with its coding")
  func json() throws {
    struct Named: Codable { var longName = 1 }
    let format = JSONFormat(.snakeCase)
    #expect(format.mediaType == .json)
    #expect(try format.encode(Named()) == Data(#"{"long_name":1}"#.utf8))
    #expect(try format.decode(Named.self, from: Data(#"{"long_name":2}"#.utf8)).longName == 2)
  }
}

import Apus
import ApusTestServer
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("5: query parameters")
struct Capability05QueryTests {
  private func items(_ query: Query, style: QueryStyle = .default) async throws -> [[String]]? {
    try await withServer { api, server in
      try await api.send(.get("/search", query: query).coding { $0.query = style })
      return server.exchanges[0].query.flatMap(formItems)
    }
  }

  @Test("Query names and values with any ASCII character and in any language arrive unchanged")
  func roundTrip() async throws {
    let ascii = (0x20...0x7E).map { String(UnicodeScalar(UInt8($0))) }
    let texts = ascii + ["a+b & c=d %41 @", "日本語", "Ωμέγα", "👩‍👩‍👧", "e\u{301}", "\t", "\n", "%", "%%", "%2", "+", ""]
    var query: Query = [:]
    for text in texts {
      query.append("v\(text)", text)
    }
    #expect(try await items(query) == texts.map { ["v\($0)", $0] })
  }

  @Test("Query values are encoded once: text that looks percent-encoded arrives unchanged")
  func onceOnly() async throws {
    #expect(try await items(["q": "%2F%252F%20+"]) == [["q", "%2F%252F%20+"]])
  }

  @Test("An absent query value is omitted, without a lone question mark")
  func absent() async throws {
    try await withServer { api, server in
      try await api.send(.get("/a", query: ["x": nil as Int?, "y": 1]))
      try await api.send(.get("/a", query: ["x": nil as Int?]))
      try await api.send(.get("/a", query: [:]))
      #expect(server.exchanges.map(\.target) == ["/a?y=1", "/a", "/a"])
    }
  }

  @Test("Query parameters keep their order")
  func order() async throws {
    var query: Query = [:]
    for index in 0..<50 { query.append("p\((index * 37) % 50)", index) }
    #expect(try await items(query)?.map { $0[1] } == (0..<50).map(String.init))
  }

  private struct Filter: Encodable, Sendable {
    struct Years: Encodable, Sendable { var from: Int, to: Int? }
    var title: String?
    var genres: [String]
    var years: Years
    var isNew: Bool
    var since: Date
  }

  private let filter = Filter(
    title: nil, genres: ["drama", "war"], years: .init(from: 1990, to: nil), isNew: true,
    since: Date(timeIntervalSince1970: 1_000_000_000))

  @Test("A struct becomes one query parameter per property, including arrays, nested keys, Booleans and dates")
  func structs() async throws {
    #expect(
      try await items(Query(filter)) == [
        ["genres", "drama"], ["genres", "war"], ["years[from]", "1990"], ["isNew", "true"],
        ["since", "2001-09-09T01:46:40Z"],
      ])
  }

  @Test("A query style determines how arrays, keys, Booleans, dates and absent values are written")
  func styles() async throws {
    let style = QueryStyle(
      arrays: .brackets, nesting: .dots, bools: .digits, dates: .secondsSince1970, nils: .empty)
    #expect(
      try await items(Query(filter), style: style) == [
        ["title", ""], ["genres[]", "drama"], ["genres[]", "war"], ["years.from", "1990"], ["years.to", ""],
        ["isNew", "1"], ["since", "1000000000"],
      ])
    #expect(try await items(["t": ["a", "b,c"]], style: QueryStyle(arrays: .joined(","))) == [["t", "a,b,c"]])
    #expect(
      try await items(["t": ["a", "b"]], style: QueryStyle(arrays: .indexed)) == [["t[0]", "a"], ["t[1]", "b"]])
  }

  @Test("A query value that cannot be encoded throws an encoding error that names the parameter, and nothing is sent")
  func unwritable() async throws {
    try await withServer { api, server in
      let error = await failure { try await api.send(.get("/a", query: ["ratio": Double.infinity])) }
      #expect(error?.code == .encoding)
      #expect(error?.codingPath == "ratio")
      #expect(server.exchanges.isEmpty)
    }
  }
}

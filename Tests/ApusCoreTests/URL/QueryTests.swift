import ApusTesting
import Testing

@testable import ApusCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Queries") struct QueryTests {
  @Test("Every ASCII character in names and values reaches the server unchanged", arguments: 0...0x7F)
  func ascii(code: UInt8) async throws {
    let character = String(Unicode.Scalar(code))
    let query: Query = ["a\(character)b": "c\(character)d", "plain": character]
    let text = try await target("/x", query: query)
    #expect(QueryDecoding.pairs(of: text) == [["a\(character)b", "c\(character)d"], ["plain", character]])
    #expect(text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
    let form = try await builtMessage(Request<Void>.post("/x", content: .form(query)))
    #expect(QueryDecoding.pairs(of: try #require(content(of: form))).map(\.last) == ["c\(character)d", character])
  }

  @Test(
    "Text in any language reaches the server unchanged, scalar by scalar",
    arguments: [
      "bücher", "e\u{301}", "é", "日本語", "👨‍👩‍👧‍👦", "\u{FEFF}x", "\u{10FFFF}", "שלום", "a\u{0}b", "+ & = % @", "%41%zz",
      "100%",
    ])
  func unicode(value: String) async throws {
    let text = try await target("/x", query: ["q": value])
    let decoded = try #require(QueryDecoding.pairs(of: text).first?.last)
    #expect(Array(decoded.unicodeScalars) == Array(value.unicodeScalars))
  }

  @Test("Query values are encoded exactly once, and only unreserved characters remain unchanged")
  func once() async throws {
    #expect(try await target("/x", query: ["a": "%41 é+"]) == "/x?a=%2541%20%C3%A9%2B")
    #expect(try await target("/x", query: ["k[]": "-._~*'()!"]) == "/x?k%5B%5D=-._~%2A%27%28%29%21")
    #expect(try await target("/x?a=%41", query: ["b": "%"], at: "https://h.example?c=%2B") == "/x?c=%2B&a=%41&b=%25")
  }

  @Test("Forms encode a space as plus")
  func form() async throws {
    let message = try await builtMessage(Request<Void>.post("/x", content: .form(["a b": "c d+~*", "e": ""])))
    #expect(text(of: message.content) == "a+b=c+d%2B%7E*&e=")
  }

  @Test("Query parameters remain in order, and names may repeat")
  func order() async throws {
    #expect(try await target("/x", query: ["z": 1, "a": 2, "z": 3]) == "/x?z=1&a=2&z=3")
    var query: Query = ["m": 1]
    query.append("b", "x")
    query.append(["a": 2])
    query.append("none", nil)
    #expect(try await target("/x", query: query) == "/x?m=1&b=x&a=2")
    #expect(try await target(of: Request<Void>.get("/x", query: ["a": 1]).query(["b": 2])) == "/x?a=1&b=2")
  }

  @Test("Missing query values are omitted, without a bare question mark at the end")
  func missing() async throws {
    let year: Int? = nil
    #expect(try await target("/x", query: ["year": year, "page": 1]) == "/x?page=1")
    #expect(try await target("/x", query: ["year": year]) == "/x")
    #expect(try await target("/x", query: ["years": [1, nil, 3]]) == "/x?years=1&years=3")
    #expect(try await target("/x", query: [:], at: "https://h.example?k=1") == "/x?k=1")
    #expect(Query().isEmpty)
    #expect(!(["a": nil] as Query).isEmpty)
  }

  @Test("Values of common types can be query parameters")
  func types() async throws {
    struct Wrapped: Encodable, RawRepresentable { let rawValue: Int }
    enum Kind: String, Encodable { case film = "fi lm" }
    enum Stars: Int, Encodable { case five = 5 }
    let id = try #require(UUID(uuidString: "6F9619FF-8B86-D011-B42D-00C04FC964FF"))
    let values: [(any Encodable & Sendable, String)] = [
      ("a", "a"), (1, "1"), (Int8.min, "-128"), (UInt64.max, "18446744073709551615"), (true, "true"), (false, "false"),
      (1.5, "1.5"), (2.0, "2"), (-0.1, "-0.1"), (Float(0.1), "0.1"), (Float(3), "3"), (1e20, "1e+20"),
      (Kind.film, "fi lm"), (Stars.five, "5"), (Wrapped(rawValue: 9), "9"), (id, id.uuidString),
      (Decimal(string: "12.30") ?? 0, "12.3"), (Data([1, 2, 255]), "AQL/"),
      (try #require(URL(string: "https://a.example/b?c=d")), "https://a.example/b?c=d"), (Optional("x"), "x"),
      (UInt128.max, "340282366920938463463374607431768211455"),
    ]
    for (value, text) in values {
      let written = try await target("/x", query: ["v": value])
      #expect(QueryDecoding.pairs(of: written) == [["v", text]])
    }
  }

  @Test("The error for a query property that cannot be encoded contains its name")
  func unwritable() async throws {
    struct Filter: Encodable {
      struct Range: Encodable { let low: Double }
      let range: Range
    }
    let bad: [(Query, String)] = [
      (["limit": Double.nan], "limit"), (["limit": Double.infinity], "limit"), (["limit": -Float.infinity], "limit"),
      (["limit": Decimal.nan], "limit"), (Query(Filter(range: .init(low: .nan))), "range[low]"),
      (["a": [1, .nan]], "a"), (["when": Date(timeIntervalSince1970: .nan)], "when"),
      (["when": Date(timeIntervalSince1970: 1e300)], "when"),
      (["when": Date(timeIntervalSince1970: -.infinity)], "when"),
      (Query(7), ""), (Query([1, 2]), ""), (Query("text"), ""),
    ]
    for (query, place) in bad {
      let error = await failure { try await target("/x", query: query) }
      #expect(error?.code == .encoding)
      #expect(error?.codingPath == place)
      #expect((error?.underlying as? QueryEncodingError)?.name == place)
      #expect(throws: QueryEncodingError.self) { try query.items(style: .default) }
    }
    #expect(QueryEncodingError(name: "a", reason: "is odd").description == "a is odd")
    #expect(QueryEncodingError(name: "", reason: "is odd").description == "the value is odd")
  }

  @Test("Random names and values survive a round trip in queries and forms", arguments: 0..<4)
  func fuzz(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<fuzzRounds(usually: 1000) {
      let pairs = (0..<3).map { _ in [PathFuzzTests.text(&generator), PathFuzzTests.text(&generator)] }
      var query = Query()
      for pair in pairs { query.append(pair[0], pair[1]) }
      var text = "/x"
      try QueryText.append(query, style: .default, after: "?", to: &text)
      #expect(QueryDecoding.pairs(of: text) == pairs)
      #expect(QueryDecoding.pairs(of: try QueryText.form(query, style: .default)) == pairs)
      #expect(text == "/x?" + QueryText.query(try query.items(style: .default)))
    }
  }
}

import Foundation
import Testing

@testable import ApusJSON

@Suite("Types that read themselves, inside of Codable types") struct NestedReadableTests {
  private struct Shelf<Item: Codable & Equatable>: Codable, Equatable {
    var best: Item?
    var byName: [String: Item] = [:]
    var items: [Item] = []
    var rows: [[Item]] = []
  }

  /// Returns a value as JSON, or all details of an error without the names of types.
  private func outcome(_ coding: JSONCoding, _ decode: () throws -> some Encodable) -> String {
    do {
      return String(decoding: try coding.encode(decode()), as: UTF8.self)
    } catch {
      return "\(error)".replacing("CodableFilm", with: "Film")
    }
  }

  private func expectAgreement(_ text: String, _ coding: JSONCoding) -> String {
    let direct = outcome(coding) { try coding.decode(Shelf<Film>.self, from: Data(text.utf8)) }
    let codable = outcome(coding) { try coding.decode(Shelf<CodableFilm>.self, from: Data(text.utf8)) }
    #expect(direct == codable)
    return direct
  }

  private func text(_ coding: JSONCoding) throws -> String {
    let film = CodableFilm.sample
    let shelf = Shelf(best: film, byName: ["a": film, "b_c": film], items: [film, film], rows: [[film], [], [film]])
    return String(decoding: try coding.encode(shelf), as: UTF8.self)
  }

  @Test("JSONReadable types inside of Codable types yield the same values as Codable types")
  func values() throws {
    for coding in [JSONCoding.default, .snakeCase] {
      let text = try text(coding)
      #expect(expectAgreement(text, coding) == text)
    }
  }

  @Test("JSONReadable types inside of Codable types read themselves, also in optional values and at key paths")
  func reading() throws {
    struct Marked: Codable, Equatable, JSONReadable {
      var isRead: Bool
      init(from decoder: any Decoder) throws { isRead = false }
      init(from reader: inout JSONReader) throws {
        try reader.skip()
        isRead = true
      }
    }
    let shelf = try JSONCoding.default.decode(
      Shelf<Marked>.self, from: Data(#"{"best":1,"byName":{"a":2},"items":[3],"rows":[[4]]}"#.utf8))
    #expect(shelf.best?.isRead == true && shelf.byName["a"]?.isRead == true)
    #expect(shelf.items[0].isRead && shelf.rows[0][0].isRead)
    let document = try JSONCoding.default.document(Data(#"{"data":{"items":[1,null]}}"#.utf8))
    let items = try document.decode([Marked?].self, at: ["data", "items"])
    #expect(items.map { $0?.isRead } == [true, nil])
    #expect(try document.decode(Marked.self, ifPresentAt: "data").isRead)
    // A missing value has no text to read.
    #expect(try !document.decode(Marked.self, ifPresentAt: "none").isRead)
  }

  @Test(
    "An error of a nested JSONReadable type has the coding path and location in the whole text",
    arguments: [
      (#""id":7"#, #""id":"x""#), (#""id":7,"#, ""), (#""born":1976"#, #""born":99999"#),
      (#""rating":8.25"#, #""rating":1e999"#), (#""lead":[1]"#, #""lead":[1,"x"]"#), ("2001-04-25", "2001-04-31"),
      (#""radius":2"#, #""radius":"2""#), (#""name":"Audrey""#, #""nick":"A""#), (#""isNew":false"#, #""isNew":0"#),
    ])
  func errors(part: String, replacement: String) throws {
    let text = try text(.default)
    // The fault is placed in each film of the text in turn.
    var start = text.startIndex
    while let range = text[start...].range(of: part) {
      start = range.upperBound
      let wrong = text.replacingCharacters(in: range, with: replacement)
      #expect(expectAgreement(wrong, .default).contains("line 1"))
    }
  }

  @Test("A JSONReadable type may read itself by its Decodable conformance")
  func conformance() throws {
    struct Same: Codable, JSONReadable {
      var a: Int
      init(from reader: inout JSONReader) throws { self = try reader.decode(Self.self) }
    }
    #expect(try JSONCoding.default.decode(Same.self, from: Data(#"{"a":1}"#.utf8)).a == 1)
    #expect(
      try JSONCoding.default.decode(Shelf<Int>.self, from: Data(#"{"byName":{},"items":[],"rows":[]}"#.utf8)).best
        == nil)
    let byName = try JSONCoding.default.decode([String: [Same]].self, from: Data(#"{"x":[{"a":1},{"a":2}]}"#.utf8))
    #expect(byName["x"]?.map(\.a) == [1, 2])
  }

  @Test("A JSONReadable type that does not read its value or leaves a container open causes an error")
  func misuse() {
    struct Lazy: Codable, JSONReadable {
      init(from reader: inout JSONReader) throws {}
    }
    struct Open: Codable, JSONReadable {
      init(from reader: inout JSONReader) throws {
        try reader.beginArray()
        if try reader.nextElement() { try reader.skip() }
      }
    }
    for text in [#"{"a":[7]}"#, #"{"a":[7,8]}"#] {
      #expect(throws: JSONError.self) { try JSONCoding.default.decode([String: Lazy].self, from: Data(text.utf8)) }
      let document = try? JSONCoding.default.document(Data(text.utf8))
      #expect(throws: JSONError.self) { try document?.decode(Lazy.self, at: ["a"]) }
      #expect(throws: JSONError.self) { try document?.decode(Open.self, at: ["a"]) }
    }
  }
}

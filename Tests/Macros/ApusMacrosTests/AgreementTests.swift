import ApusMacros
import Foundation
import Testing

@Suite("Types with @JSONCodable read and write the JSON of Foundation's coders") struct AgreementTests {
  private static let film = """
    {"filmId":7,"title":"Am\\"é","rating":8.25,"genres":["a","b"],"default":true,"released":"2001-04-25T00:00:00Z",
    "poster":"AQID","homePageURL":"https://example.com","people":[{"name":"A","born":1976},{"name":"M"}],
    "byRole":{"lead":[{"name":"A"}],"none":[]},"writer":4,"suit":"Spades","level":2,"x":1,"y":-2,"size":{"width":3},
    "shapes":[{"point":{}},{"circle":{"radius":2}},{"twoWords":{"_0":"a","reader":1,"value":{"point":{}}}},
    {"other":{"in":[1]}},{"twoWords":{"_0":""}},
    {"keyword":{"in":1,"default":2}}],"seen":true,"unknown":[{}]}
    """

  private static let codings: [(JSONCoding, JSONCoding)] = {
    var numbers = JSONCoding(dates: .iso8601, bytes: .numbers)
    numbers.isPrettyPrinted = true
    return [.default, .snakeCase, numbers].map {
      var foundation = $0
      foundation.coder = .foundation
      return ($0, foundation)
    }
  }()

  private static func text(_ value: some Encodable, _ coding: JSONCoding) throws -> String {
    String(decoding: try coding.encode(value), as: UTF8.self)
  }

  @Test("A @JSONCodable value agrees with Foundation, with names unchanged and in snake case")
  func film() throws {
    let film = try Self.codings[0].1.decode(Film.self, from: Data(Self.film.utf8))
    for (apus, foundation) in Self.codings {
      let written = try foundation.encode([film])
      #expect(try Self.text([film], apus) == String(decoding: written, as: UTF8.self))
      // Foundation cannot decode `homePageURL` from the snake-case name that it encodes.
      #expect(try apus.decode([Film].self, from: written) == foundation.decode([Film].self, from: written))
    }
    #expect(try JSONCoding.default.decode(Film.self, from: Data(Self.film.utf8)) == film)
  }

  @Test(
    "@JSONCodable and Foundation decode changed JSON to the same value, or fail with the same coding path",
    arguments: [
      (#""filmId":7,"#, ""), (#""filmId":7"#, #""filmId":"7""#), (#""rating":8.25,"#, #""rating":null,"#),
      (#""released":"2001-04-25T00:00:00Z""#, #""released":"x""#), (#""suit":"Spades""#, #""suit":"spades""#),
      (#""level":2"#, #""level":3"#), (#""writer":4"#, #""writer":null"#),
      (#"{"circle":{"radius":2}}"#, #"{"circle":{}}"#), (#"{"circle":{"radius":2}}"#, "{}"),
      (#"{"circle":{"radius":2}}"#, #"{"new":1}"#), (#"{"circle":{"radius":2}}"#, #"{"new":1,"point":{}}"#),
      (#"{"point":{}}"#, #"{"point":{"x":1}}"#), (#"{"point":{}}"#, #"{"point":[]}"#),
      (#"{"point":{}}"#, #"{"point":null}"#), (#""value":{"point":{}}"#, #""value":null"#),
      (#""value":{"point":{}}"#, #""value":{"point":1}"#), (#""size":{"width":3}"#, #""size":{"width":"3"}"#),
      (#""default":true,"#, ""),
    ])
  func changes(part: String, replacement: String) throws {
    let text = Data(Self.film.replacing(part, with: replacement, maxReplacements: 1).utf8)
    func outcome(_ coding: JSONCoding) throws -> String {
      do {
        return try Self.text(coding.decode(Film.self, from: text), .default)
      } catch let error as DecodingError {
        return "error at \(error.path.map(\.stringValue))"
      }
    }
    #expect(try outcome(.default) == outcome(Self.codings[0].1))
  }

  @Test("@JSONCodable refuses an object with two cases of an enum")
  func twoCases() {
    for coding in [JSONCoding.default, Self.codings[0].1] {
      #expect(throws: DecodingError.self) {
        try coding.decode(Shape.self, from: Data(#"{"point":{},"circle":{"radius":1}}"#.utf8))
      }
    }
  }

  @Test("A generic @JSONCodable type is JSONReadable and JSONWritable if its type parameter is")
  func generics() throws {
    func readsItself(_ type: any Any.Type) -> Bool { type is any JSONReadable.Type }
    #expect(readsItself(Page<Shape>.self) && !readsItself(Page<Size>.self))
    let text = #"{"items":[{"point":{}}],"next":{"circle":{"radius":1}}}"#
    let page = try JSONCoding.default.decode(Page<Shape>.self, from: Data(text.utf8))
    #expect(page == Page(items: [.point], next: .circle(radius: 1)))
    #expect(try Self.text(page, .default) == text)
    #expect(try JSONCoding.default.decode(Page<Size>.self, from: Data(#"{"items":[]}"#.utf8)) == Page(items: []))
  }

  @Test("@JSONCodable writes a constant with a value, but does not read it")
  func constants() throws {
    for (apus, foundation) in Self.codings {
      #expect(try Self.text(Tagged(id: 1), apus) == Self.text(Tagged(id: 1), foundation))
    }
  }

  @Test("With @JSONCodable, a missing member gets its property's default value, or nil if optional")
  func defaults() throws {
    let empty = try JSONCoding.default.decode(Settings.self, from: Data("{}".utf8))
    #expect(empty == Settings(limit: nil))
    let all = Settings(volume: 1, language: "de", isMuted: true, names: [], limit: 2)
    #expect(try JSONCoding.default.decode(Settings.self, from: JSONCoding.default.encode(all)) == all)
    #expect(throws: DecodingError.self) {
      try JSONCoding.default.decode(Settings.self, from: Data(#"{"volume":null}"#.utf8))
    }
  }
}

extension DecodingError {
  fileprivate var path: [any CodingKey] {
    switch self {
    case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context),
      .dataCorrupted(let context):
      context.codingPath
    @unknown default: []
    }
  }
}

import Foundation
import Testing

@testable import ApusJSON

@Suite("Names of members that are read and written directly") struct MemberNameTests {
  private static let names: [StaticString] = [
    "", "i", "id", "1234567", "12345678", "123456789", "abcdefghijklmno", "abcdefghijklmnop", "abcdefghijklmnopq",
    "abcdefghijklmnopqrstuvwxyz", "größe", "a\"b", "line\nbreak", "twoWords",
  ]

  private func written(_ name: StaticString, _ coding: JSONCoding) -> String {
    var writer = JSONWriter(coding)
    writer.beginObject()
    for _ in 0..<2 {
      writer.beginMember(name)
      writer.writeNull()
    }
    writer.endObject()
    return String(decoding: writer.text.all, as: UTF8.self)
  }

  /// Returns whether the name of the first member of an object is found.
  private func finds(_ name: StaticString, in text: String, _ coding: JSONCoding = .default) throws -> Bool {
    try Array(text.utf8).withUnsafeBytes { bytes in
      let copy = JSONCursor.copy(bytes)
      defer { copy.deallocate() }
      var reader = JSONReader(JSONCursor(text: UnsafeRawPointer(copy), count: bytes.count), coding, depth: 0)
      try reader.beginObject()
      _ = try reader.nextMember()
      return reader.isAt(name)
    }
  }

  @Test("JSONWriter writes a name of any length as the encoder does", arguments: 0..<names.count)
  func writing(index: Int) throws {
    let name = Self.names[index]
    var pretty = JSONCoding.default
    pretty.isPrettyPrinted = true
    for coding in [.default, .snakeCase, pretty] {
      let one = try coding.encode([name.description: Optional<Int>.none])
      let key = coding.keys == .snakeCase ? name.description.snakeCased : name.description
      let object = try JSONValue(parsing: Array(written(name, coding).utf8)).object
      #expect(object?.keys.map(\.self) == [key])
      if coding.keys == .unchanged, !coding.isPrettyPrinted {
        let member = String(decoding: one, as: UTF8.self).dropFirst().dropLast()
        #expect(written(name, coding) == "{\(member),\(member)}")
      }
    }
  }

  @Test("JSONReader.isAt returns true only for names with equal bytes", arguments: 0..<names.count)
  func reading(index: Int) throws {
    let name = Self.names[index]
    let text = written(name, .default)
    #expect(try finds(name, in: text))
    for other in Self.names where other.description != name.description {
      #expect(try !finds(other, in: text))
    }
    for place in name.description.utf8.indices where name.description.utf8.allSatisfy({ $0 > 0x22 && $0 < 0x80 }) {
      var changed = name.description
      changed.replaceSubrange(place...place, with: "~")
      #expect(try !finds(name, in: "{\"\(changed)\":1}"))
      #expect(try !finds(name, in: "{\"\(changed)\":1}", .snakeCase))
    }
  }

  @Test("JSONReader finds names with escapes and names in snake case")
  func converted() throws {
    #expect(try finds("id", in: #"{"\u0069d":1}"#))
    #expect(try !finds("id", in: #"{"\u0069e":1}"#))
    #expect(try finds("twoWords", in: #"{"two_words":1}"#, .snakeCase))
    #expect(try finds("twoWords", in: #"{"two\u005fwords":1}"#, .snakeCase))
    #expect(try !finds("two_words", in: #"{"two_words":1}"#, .snakeCase))
    #expect(try finds("größeNeu", in: #"{"größe_neu":1}"#, .snakeCase))
  }

  @Test("JSONReader.objectError has the coding path of the object")
  func objectError() {
    struct Empty: Codable, JSONReadable {
      init(from reader: inout JSONReader) throws {
        try reader.beginObject()
        while try reader.nextMember() { try reader.skip() }
        throw reader.objectError("A member is missing")
      }
    }
    let error = #expect(throws: DecodingError.self) {
      try JSONCoding.default.decode([[String: Empty]].self, from: Data(#"[{"a":{"}":[{}]}}]"#.utf8))
    }
    guard case .dataCorrupted(let context)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(context.codingPath.map(\.stringValue) == ["Index 0", "a"])
    #expect((context.underlyingError as? JSONLocation)?.column == 7)
  }
}

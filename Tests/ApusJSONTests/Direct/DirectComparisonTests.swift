import ApusTesting
import Foundation
import TestSupport
import Testing

@testable import ApusJSON

@Suite("Types that read and write themselves, compared with Codable") struct DirectComparisonTests {
  private static let codings: [JSONCoding] = {
    var numbers = JSONCoding(dates: .secondsSince1970)
    numbers.nonFiniteNumbers = .strings(infinity: "inf", negativeInfinity: "-inf", nan: "nan")
    var pretty = JSONCoding.default
    pretty.isPrettyPrinted = true
    return [.default, .snakeCase, numbers, pretty]
  }()

  /// Returns a value as JSON, or all details of an error.
  private func outcome(_ coding: JSONCoding, _ decode: () throws -> some Encodable) -> String {
    do {
      return String(decoding: try coding.encode(decode()), as: UTF8.self)
    } catch let error as DecodingError {
      return "\(error)"
    } catch {
      return "\(error)"
    }
  }

  private func expectAgreement(
    _ bytes: [UInt8], _ coding: JSONCoding, _ location: SourceLocation = #_sourceLocation
  ) {
    let direct = outcome(coding) { try coding.decode([Film].self, from: bytes) }
    let codable = outcome(coding) { try coding.decode([CodableFilm].self, from: bytes) }
    let text = String(decoding: bytes, as: UTF8.self)
    // Codable reports the type of the enum's raw value. Reading stops at the first error in the text, whereas decoding
    // stops at the first error of the type.
    if direct == codable { return }
    #expect(Self.isSame(direct, codable), "\(direct)\n\(codable)\n\(text)", sourceLocation: location)
  }

  /// Whether both results are errors. If a text has several faults, reading and decoding may report different faults.
  private static func isSame(_ direct: String, _ codable: String) -> Bool {
    !direct.hasPrefix("[") && !codable.hasPrefix("[")
  }

  @Test("JSONReadable and JSONWritable types read and write the same JSON as Codable, in every coding")
  func values() throws {
    for coding in Self.codings {
      let text = try coding.encode([CodableFilm.sample, .sample])
      let films = try coding.decode([Film].self, from: text)
      #expect(films.count == 2)
      #expect(try String(decoding: coding.encode(films), as: UTF8.self) == String(decoding: text, as: UTF8.self))
      #expect(try coding.decode([CodableFilm].self, from: coding.encode(films)) == [.sample, .sample])
      #expect(try coding.decode([String: Film].self, from: coding.encode(["a": films[0]])) == ["a": films[0]])
      #expect(try coding.decode(Film?.self, from: Data("null".utf8)) == nil)
      #expect(try coding.encode([Film]()) == coding.encode([CodableFilm]()))
    }
  }

  @Test(
    "Reading a text with one fault throws the same error as decoding, with the same coding path and location",
    arguments: [
      (#""id":7"#, #""id":"x""#), (#""id":7"#, #""id":7.5"#), (#""id":7"#, #""id":null"#), (#""id":7,"#, ""),
      (#""born":1976"#, #""born":99999"#), (#""born":1976"#, #""born":[]"#), (#""name":"Audrey""#, #""nick":"A""#),
      (#""isNew":false"#, #""isNew":0"#), (#""rating":8.25"#, #""rating":1e999"#), (#""lead":[1]"#, #""lead":[1,"x"]"#),
      (#""lead":[1]"#, #""lead":{}"#), ("2001-04-25", "2001-04-31"), (#""radius":2"#, #""radius":"2""#),
      ("[", "{"), (#""id":7"#, #""id":7,"x":[1,{"y":2,}]"#), (#""id":7"#, #""id":07"#), ("]", "] x"),
      (#""title":"Am"#, #""title":"\q"#),
    ])
  func errors(part: String, replacement: String) throws {
    let text = String(decoding: try JSONCoding.default.encode([CodableFilm.sample]), as: UTF8.self)
    let compact = text.replacing(part, with: replacement, maxReplacements: 1)
    for wrong in [compact, compact.replacing("\":", with: "\" :\n  ")] {
      let bytes = Array(wrong.utf8)
      let direct = outcome(.default) { try JSONCoding.default.decode([Film].self, from: bytes) }
      let codable = outcome(.default) { try JSONCoding.default.decode([CodableFilm].self, from: bytes) }
      #expect(direct == codable.replacing("CodableFilm", with: "Film"))
      #expect(!direct.hasPrefix("["))
    }
  }

  @Test("Fuzz: reading mutated texts agrees with decoding", arguments: 0..<4)
  func mutations(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    for coding in Self.codings {
      let text = Array(try coding.encode([CodableFilm.sample]))
      for _ in 0..<fuzzRounds(usually: 100) {
        var bytes = text
        for _ in 0..<Int.random(in: 1...2, using: &generator) {
          let place = Int.random(in: 0..<bytes.count, using: &generator)
          let new = Array(#"{}[]",:\u-+.0123456789tfn "#.utf8).randomElement(using: &generator) ?? 0
          switch Int.random(in: 0..<3, using: &generator) {
          case 0: bytes[place] = new
          case 1: bytes.insert(new, at: place)
          default: bytes.remove(at: place)
          }
        }
        expectAgreement(bytes, coding)
      }
    }
  }

  @Test("Reading refuses models nested too deeply, while unknown members may be nested 512 levels")
  func depth() throws {
    struct Node: Codable, JSONReadable {
      var children: [Node]
      init(from reader: inout JSONReader) throws {
        var children: [Node]?
        try reader.beginObject()
        while try reader.nextMember() {
          if reader.isAt("c") { try reader.read(into: &children) } else { try reader.skip() }
        }
        self.children = try reader.require(children, "c")
      }
    }
    func nested(_ levels: Int) -> [UInt8] {
      Array((String(repeating: #"{"c":["#, count: levels / 2) + String(repeating: "]}", count: levels / 2)).utf8)
    }
    // With the address sanitizer frames are larger, so fewer levels fit.
    _ = try JSONCoding.default.decode(Node.self, from: nested(isSanitized ? 32 : 128))
    let error = #expect(throws: JSONError.self) { try JSONCoding.default.decode(Node.self, from: nested(130)) }
    #expect(error == JSONError(.tooDeep, at: 64 * 6) || isSanitized)
    for (levels, isRead) in [(511, true), (512, false)] {
      let value = String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
      let text = Array(#"{"x":\#(value),"c":[]}"#.utf8)
      #expect(((try? JSONCoding.default.decode(Node.self, from: text)) != nil) == isRead)
    }
  }

  @Test("Calls of JSONReader in a wrong order throw errors")
  func misuse() {
    struct Misuse: Codable, JSONReadable {
      init(from reader: inout JSONReader) throws {
        let isEarly = reader.isAt("")
        let isElement = (try? reader.nextElement()) ?? false
        try reader.beginObject()
        _ = try reader.nextMember()
        let isAt = reader.isAt("a")
        #expect(isEarly && !isElement && isAt)
        // The value is neither read nor skipped.
        _ = try reader.nextMember()
      }
    }
    #expect(throws: JSONError.self) { try JSONCoding.default.decode(Misuse.self, from: Array(#"{"a":1,"b":2}"#.utf8)) }
  }
}

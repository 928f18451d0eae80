import ApusTesting
import Foundation
import TestSupport
import Testing

@testable import ApusJSON

/// With the address sanitizer these tests prove that no parser reads outside of its input. `scripts/check-long` runs
/// them with ten million mutations.
@Suite("Memory of JSON parsers") struct JSONMemoryFuzzTests {
  private static let texts: [[UInt8]] = [
    #"[{"born":1976,"name":"Audrey"},{"name":"Mathieu"}]"#, #"{"born":-7,"name":"é\n\u00e9 \ud83d\ude00 日本"}"#,
    #"[[1,"a",[]],-0.5e3,"b\"c",12345678901234567890]"#, "\u{FEFF}[true,false,null,0.30000000000000004]\n",
    #"{"circle":{"radius":1.5},"a_b_c":{"":{}},"a_b_c":2}"#, #" { "a" : [ { "b" : "12345678" } , [ ] ] } "#,
  ].map { Array($0.utf8) }
  private static let telling = Array(#"{}[]",:\u-+.e0123456789tfnl "#.utf8) + [0, 0x1F, 0x80, 0xC3, 0xE2, 0xF0, 0xFF]

  private static func mutated(_ generator: inout SeededGenerator) -> [UInt8] {
    var bytes = texts[Int.random(in: 0..<texts.count, using: &generator)]
    for _ in 0..<Int.random(in: 1...3, using: &generator) where !bytes.isEmpty {
      let random = generator.next()
      let (index, byte) = (Int(random >> 32) % bytes.count, telling[Int(random >> 8 & 0xFFFF) % telling.count])
      switch random & 3 {
      case 0: bytes[index] = byte
      case 1: bytes.insert(byte, at: index)
      case 2: bytes.remove(at: index)
      default: bytes.removeLast(bytes.count - index)
      }
    }
    return bytes
  }

  private static func error(_ parse: () throws -> Void) -> JSONError? {
    do {
      try parse()
      return nil
    } catch {
      return error as? JSONError
    }
  }

  /// The functions that decode and read a text, with and without conversion of names.
  private static let readers: [@Sendable (UnsafeRawBufferPointer) throws -> Void] = [
    { _ = try JSONCoding.default.decode([CodableFilm.Person].self, from: $0) },
    { _ = try JSONCoding.snakeCase.decode(Flexible.self, from: $0) },
    { _ = try JSONCoding.default.decode([Film.Person].self, from: $0) },
    { _ = try JSONCoding.snakeCase.decode(Film.Person.self, from: $0) },
  ]

  /// Returns whether the parser and a reader agree that a text is valid, or on its error.
  private static func isReadAlike(_ text: UnsafeRawBufferPointer, by reader: Int) -> Bool {
    error { try readers[reader](text) } == error { _ = try JSONValue(parsing: text) }
  }

  @Test("Fuzz: the parser and all readers stay within the text's memory and have equal results", arguments: 0..<8)
  func texts(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<fuzzRounds(usually: 500) {
      let bytes = Self.mutated(&generator)
      let reader = Int.random(in: 0..<Self.readers.count, using: &generator)
      guard withExactCopy(of: bytes, { Self.isReadAlike($0, by: reader) }) else {
        Issue.record("seed \(seed): \(String(decoding: bytes, as: UTF8.self)), \(bytes)")
        return
      }
    }
  }

  @Test("Fuzz: parsing of numbers, escapes and names stays within the text's memory", arguments: 0..<4)
  func parts(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<fuzzRounds(usually: 500) {
      let number = Array(
        "\(Double(bitPattern: generator.next()))".utf8.prefix(Int.random(in: 1...24, using: &generator)))
      if JSONNumber(String(decoding: number, as: UTF8.self)) != nil {
        let value = withExactCopy(of: number) { JSONDouble.value($0) }
        #expect(value == Double(String(decoding: number, as: UTF8.self)))
      }
      let text = Self.mutated(&generator)
      if case .string(let string)? = try? JSONValue(parsing: [0x22] + text + [0x22]) {
        #expect(withExactCopy(of: text) { JSONEscape.string($0) } == string)
      }
      let name = (0..<Int.random(in: 0...12, using: &generator)).map { _ in
        Array("ab_C1".utf8)[Int.random(in: 0..<5, using: &generator)]
      }
      let key = String(decoding: name, as: UTF8.self).camelCased
      #expect(withExactCopy(of: name) { SnakeCase.isEqual($0, toCamelCase: key) } == true)
    }
  }
}

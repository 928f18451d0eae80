import ApusJSON
import ApusTesting
import Foundation
import TestSupport
import Testing

@Suite("Fuzzing JSON") struct JSONFuzzTests {
  /// Returns a random value of at most `depth` levels.
  private func value(_ generator: inout SeededGenerator, depth: Int = 5) -> JSONValue {
    switch UInt8.random(in: 0...(depth > 0 ? 7 : 4), using: &generator) {
    case 0: return .null
    case 1: return .bool(Bool.random(using: &generator))
    case 2: return .number(JSONNumber(Int64.random(in: .min ... .max, using: &generator)))
    case 3: return .number(JSONNumber(Double(bitPattern: generator.next())) ?? 0)
    case 4: return .string(text(&generator))
    case 5, 6:
      return .array((0..<Int.random(in: 0...4, using: &generator)).map { _ in value(&generator, depth: depth - 1) })
    default:
      let members = (0..<Int.random(in: 0...4, using: &generator)).map { _ in
        (text(&generator), value(&generator, depth: depth - 1))
      }
      return .object(Dictionary(members, uniquingKeysWith: { $1 }))
    }
  }

  private func text(_ generator: inout SeededGenerator) -> String {
    var text = String.UnicodeScalarView()
    for _ in 0..<Int.random(in: 0...8, using: &generator) {
      let special: [Unicode.Scalar] = [
        "\"", "\\", "/", "\n", "\0", "\u{7F}", "\u{301}", "é", "日", "😀", "\u{FEFF}", "a",
      ]
      let any = Unicode.Scalar(UInt32.random(in: 0...0x10FFFF, using: &generator))
      text.append(Bool.random(using: &generator) ? special.randomElement(using: &generator) ?? "a" : any ?? "b")
    }
    return String(text)
  }

  private func mutated(_ bytes: [UInt8], _ generator: inout SeededGenerator) -> [UInt8] {
    var bytes = bytes
    for _ in 0..<Int.random(in: 1...4, using: &generator) {
      let index = Int.random(in: 0..<max(1, bytes.count), using: &generator)
      switch UInt8.random(in: 0...3, using: &generator) {
      case 0 where !bytes.isEmpty: bytes[index] = UInt8.random(in: 0...255, using: &generator)
      case 1 where !bytes.isEmpty: bytes.remove(at: index)
      case 2:
        bytes.insert(Array("{}[]\",:\\e-1 tu0".utf8).randomElement(using: &generator) ?? 0, at: min(index, bytes.count))
      default: bytes = Array(bytes.prefix(index))
      }
    }
    return bytes
  }

  @Test("Fuzz: a serialized JSONValue parses to itself, also with Foundation", arguments: 0..<6)
  func roundTrip(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<fuzzRounds(usually: 300) {
      let value = value(&generator)
      let bytes = value.utf8()
      #expect(try JSONValue(parsing: bytes) == value)
      #expect(try JSONValue(parsing: bytes).utf8() == bytes)
      #expect((try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)) != nil)
    }
  }

  @Test(
    "Fuzz: a mutated text parses to a value that Foundation accepts too, or throws a typed error", arguments: 10..<16)
  func mutations(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<fuzzRounds(usually: 600) {
      let bytes = mutated(value(&generator, depth: 3).utf8(), &generator)
      do throws(JSONError) {
        let value = try JSONValue(parsing: bytes)
        // Of the valid texts, Foundation refuses only numbers out of the range of Double.
        let isInRange = !bytes.contains(UInt8(ascii: "e")) && bytes.count < 200
        let accepted = (try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)) != nil
        #expect(accepted || !isInRange, "\(String(decoding: bytes, as: UTF8.self))")
        #expect((try? JSONValue(parsing: value.utf8())) == value)
      } catch {
        #expect(error.offset <= bytes.count)
      }
    }
  }

  @Test("Fuzz: random bytes parse to a value or throw a typed error", arguments: 20..<24)
  func bytes(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let alphabet = Array(#"{}[]",:\ue-+.0123tfn "#.utf8)
    for _ in 0..<fuzzRounds(usually: 1000) {
      let bytes = (0..<Int.random(in: 0...24, using: &generator)).map { _ in
        UInt8.random(in: 0...7, using: &generator) == 0
          ? UInt8.random(in: 0...255, using: &generator) : alphabet.randomElement(using: &generator) ?? 0
      }
      do throws(JSONError) {
        let value = try JSONValue(parsing: bytes)
        #expect((try? JSONValue(parsing: value.utf8())) == value)
      } catch {
        #expect(error.offset <= bytes.count)
      }
    }
  }
}

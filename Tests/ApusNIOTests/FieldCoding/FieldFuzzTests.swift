import HTTPTypes
import NIOCore
import TestSupport
import Testing

import struct ApusTesting.SeededGenerator

@testable import ApusNIO

/// Encodes and decodes random request heads, and decodes random bytes. A failure message contains the seed that
/// reproduces the failure.
///
/// `APUS_FUZZ` sets the number of rounds of each test.
@Suite("Fuzz: field blocks")
struct FieldFuzzTests {
  static let rounds = fuzzRounds(usually: 20_000)
  private static let names = [
    "accept", "authorization", "cookie", "X-Custom", "traceparent", "user-agent", "range", "a", "content-type",
    "x-a-rather-long-name-of-a-field",
  ].compactMap { HTTPField.Name($0) }

  private func value(_ random: inout SeededGenerator) -> [UInt8] {
    let length = [0, 1, 5, 20, 60, 126, 127, 128, 300].randomElement(using: &random) ?? 0
    let bytes: ClosedRange<UInt8> = Bool.random(using: &random) ? 0x61...0x63 : 0x21...0x7E
    return (0..<length).map { _ in
      let byte = UInt8.random(in: bytes, using: &random)
      return Int.random(in: 0..<200, using: &random) == 0 ? byte | 0x80 : byte
    }
  }

  private func head(_ random: inout SeededGenerator) -> HTTPRequest {
    var fields = HTTPFields()
    for _ in 0..<Int.random(in: 0...8, using: &random) {
      var field = HTTPField(name: Self.names.randomElement(using: &random) ?? .accept, value: value(&random))
      field.indexingStrategy =
        [.automatic, .automatic, .avoid, .disallow, .prefer].randomElement(using: &random) ?? .automatic
      fields.append(field)
    }
    let number = Int.random(in: 0...5, using: &random)
    return HTTPRequest(
      method: [.get, .post, .put, .options].randomElement(using: &random) ?? .get,
      scheme: ["https", "http", "coap"].randomElement(using: &random), authority: "h\(number):80",
      path: "/" + String(repeating: "p", count: number * 20), headerFields: fields)
  }

  /// Returns the lines that a decoder must return for a request head.
  private func lines(_ head: HTTPRequest) -> [String] {
    [
      ":method: \(head.method)", ":scheme: \(head.scheme ?? "")", ":path: \(head.path ?? "")",
      ":authority: \(head.authority ?? "")",
    ] + head.headerFields.map { "\($0.name.canonicalName): \($0.value)" }
  }

  @Test("Random request heads survive encoding and decoding while the server changes its table size")
  func roundTrips() throws {
    for seed in 0..<UInt64(Self.rounds / 20) {
      var random = SeededGenerator(seed: seed)
      var (encoder, decoder) = (FieldEncoder(), FieldDecoder())
      for _ in 0..<20 {
        while Int.random(in: 0..<4, using: &random) == 0 {
          encoder.limitTable(to: UInt32.random(in: 0...6000, using: &random))
        }
        let head = head(&random)
        #expect(try decoder.lines(encoder.block(head)) == lines(head), "seed \(seed)")
        #expect(encoder.tableCount == decoder.tableCount && decoder.tableSize <= 4096, "seed \(seed)")
      }
    }
  }

  @Test("Random and altered field blocks never grow the dynamic table or the header list beyond the limits")
  func noise() throws {
    for seed in 0..<UInt64(Self.rounds) {
      var random = SeededGenerator(seed: seed)
      var (encoder, decoder) = (FieldEncoder(), FieldDecoder())
      for _ in 0..<3 {
        let block =
          Bool.random(using: &random)
          ? (0..<Int.random(in: 0...60, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
          : altered(try encoder.block(head(&random)), &random)
        guard let fields = try? decoder.block([0x88] + block) else { break }
        _ = try? fields.head()
        #expect(decoder.tableSize <= 4096 && decoder.tableCount <= 128 && fields.size <= 256 << 10, "seed \(seed)")
      }
    }
  }

  private func altered(_ block: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
    var block = block
    for _ in 0..<Int.random(in: 1...4, using: &random) {
      let index = Int.random(in: 0..<block.count, using: &random)
      switch Int.random(in: 0..<4, using: &random) {
      case 0: block[index] = UInt8.random(in: 0...255, using: &random)
      case 1: block[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      case 2 where block.count > 1: block.remove(at: index)
      default: block.insert(UInt8.random(in: 0...255, using: &random), at: index)
      }
    }
    return block
  }
}

import Foundation
import Testing

import struct ApusTesting.SeededGenerator

@testable import ApusNIO

/// Decodes random bytes. The message of a failure has the seed that reproduces it.
///
/// `APUS_FUZZ` sets the number of rounds of each test. Default: 4,000.
@Suite("Fuzz: arbitrary bytes")
struct DecoderFuzzTests {
  static let rounds = ProcessInfo.processInfo.environment["APUS_FUZZ"].flatMap { UInt64($0) } ?? 4000
  /// The shards of the rounds, run in parallel.
  static let parts: UInt64 = 16

  private func seeds(_ part: UInt64) -> StrideTo<UInt64> { stride(from: part, to: Self.rounds, by: Int(Self.parts)) }

  @Test("A valid response is decoded, in one piece or in many", arguments: 0..<Self.parts)
  func valid(part: UInt64) {
    for seed in seeds(part) {
      var generator = ResponseGenerator(seed: seed)
      let (bytes, content) = generator.valid()
      let whole = Decoded(bytes)
      #expect(whole.isComplete && whole.error == nil && whole.content == content, "seed \(seed)")
      let cuts = generator.cuts(of: bytes)
      #expect(Decoded(bytes, cuts: cuts) == whole, "seed \(seed), cuts \(cuts)")
      #expect(Decoded(bytes, cuts: Array(0..<bytes.count)) == whole, "seed \(seed)")
      #expect(Decoded(Array(bytes.dropLast()), end: .clean).error != nil, "seed \(seed)")
    }
  }

  @Test(
    "An altered response is decoded or refused, with the same result in one piece or in many", arguments: 0..<Self.parts
  )
  func mutated(part: UInt64) {
    for seed in seeds(part) {
      var generator = ResponseGenerator(seed: seed)
      let bytes = generator.mutated(generator.valid().bytes)
      let end: Decoded.End = generator.chance(2) ? .clean : .unclean
      let whole = Decoded(bytes, end: end).comparable
      let cuts = generator.cuts(of: bytes)
      #expect(Decoded(bytes, cuts: cuts, end: end).comparable == whole, "seed \(seed), cuts \(cuts)")
      #expect(Decoded(bytes, cuts: Array(0..<bytes.count), end: end).comparable == whole, "seed \(seed)")
    }
  }

  @Test("Random bytes after the start of a response end in parts or an error", arguments: 0..<Self.parts)
  func noise(part: UInt64) {
    for seed in seeds(part) {
      var random = SeededGenerator(seed: seed)
      let noise = (0..<200).map { _ in UInt8.random(in: 0...255, using: &random) }
      let start = ["", "HTTP/1.1 200 OK\r\n", chunked(""), answer(), answer("Content-Length: 99")][Int(seed % 5)]
      let decoded = Decoded(Array(start.utf8) + noise, end: .clean)
      #expect(decoded.isComplete || decoded.error != nil, "seed \(seed)")
    }
  }
}

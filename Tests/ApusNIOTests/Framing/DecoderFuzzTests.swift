#if NIO
  import struct ApusTesting.SeededGenerator
  import Foundation
  import Testing

  @testable import ApusNIO

  /// Seeded, so a failure can be had again: the seed is in its message.
  ///
  /// `APUS_FUZZ` sets how many rounds each test makes; 4,000 without it.
  @Suite("Fuzz: any bytes at all")
  struct DecoderFuzzTests {
    static let rounds = ProcessInfo.processInfo.environment["APUS_FUZZ"].flatMap { UInt64($0) } ?? 4000
    /// Parts of the rounds, to run beside each other.
    static let parts: UInt64 = 16

    private func seeds(_ part: UInt64) -> StrideTo<UInt64> { stride(from: part, to: Self.rounds, by: Int(Self.parts)) }

    @Test("a valid answer is read, whole or cut", arguments: 0..<Self.parts)
    func valid(part: UInt64) {
      for seed in seeds(part) {
        var generator = AnswerGenerator(seed: seed)
        let (bytes, content) = generator.valid()
        let whole = Decoded(bytes)
        #expect(whole.isComplete && whole.error == nil && whole.content == content, "seed \(seed)")
        let cuts = generator.cuts(of: bytes)
        #expect(Decoded(bytes, cuts: cuts) == whole, "seed \(seed), cuts \(cuts)")
        #expect(Decoded(bytes, cuts: Array(0..<bytes.count)) == whole, "seed \(seed)")
        #expect(Decoded(Array(bytes.dropLast()), end: .clean).error != nil, "seed \(seed)")
      }
    }

    @Test("a changed answer is read or refused, the same whole or cut", arguments: 0..<Self.parts)
    func mutated(part: UInt64) {
      for seed in seeds(part) {
        var generator = AnswerGenerator(seed: seed)
        let bytes = generator.mutated(generator.valid().bytes)
        let end: Decoded.End = generator.chance(2) ? .clean : .unclean
        let whole = Decoded(bytes, end: end).comparable
        let cuts = generator.cuts(of: bytes)
        #expect(Decoded(bytes, cuts: cuts, end: end).comparable == whole, "seed \(seed), cuts \(cuts)")
        #expect(Decoded(bytes, cuts: Array(0..<bytes.count), end: end).comparable == whole, "seed \(seed)")
      }
    }

    @Test("noise after the start of an answer ends in parts or an error", arguments: 0..<Self.parts)
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
#endif

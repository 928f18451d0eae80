import ApusTesting
import TestSupport
import Testing

@testable import ApusCore

@Suite("Fuzz: lines") struct LineFuzzTests {
  @Test("Vectorized byte searches find the same bytes as a loop, in exactly sized memory", arguments: 0..<8)
  func searches(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    for round in 0..<fuzzRounds(usually: 300) {
      let bytes = (0..<Int.random(in: 0...100, using: &generator)).map { _ in
        let isEnd = UInt8.random(in: 0..<40, using: &generator) == 0
        return isEnd ? Bool.random(using: &generator) ? 0x0A : 0x0D : UInt8.random(in: 0...255, using: &generator)
      }
      let start = Int.random(in: 0...bytes.count, using: &generator)
      let (end, first) = withExactCopy(of: bytes) { bytes in
        (ByteSearch.lineEnd(in: bytes, from: start), ByteSearch.first(0x0D, in: bytes, from: start))
      }
      #expect(
        end == bytes[start...].firstIndex { $0 == 0x0A || $0 == 0x0D } ?? bytes.count, "seed \(seed), round \(round)")
      #expect(first == bytes[start...].firstIndex(of: 0x0D) ?? bytes.count, "seed \(seed), round \(round)")
    }
  }
}

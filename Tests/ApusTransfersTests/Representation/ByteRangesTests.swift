import ApusTesting
import Testing

@testable import ApusTransfers

@Suite("Sets of bytes")
struct ByteRangesTests {
  @Test(
    "Overlapping and adjacent ranges are merged, and stay in order",
    arguments: [
      ([], []), ([5..<5], []), ([0..<4], [0..<4]), ([6..<8, 0..<4], [0..<4, 6..<8]), ([0..<4, 4..<8], [0..<8]),
      ([4..<8, 0..<4], [0..<8]), ([0..<4, 6..<8, 3..<7], [0..<8]), ([2..<3, 5..<6, 0..<9], [0..<9]),
      ([0..<9, 2..<3], [0..<9]), ([0..<2, 4..<6, 8..<10, 2..<8], [0..<10]),
    ] as [([Range<Int64>], [Range<Int64>])])
  func insert(_ added: [Range<Int64>], _ ranges: [Range<Int64>]) {
    #expect(ByteRanges(added).ranges == ranges)
  }

  @Test("Counts, gaps and the bytes before an offset are computed from the ranges")
  func queries() {
    let some = ByteRanges([0..<4, 6..<8, 10..<20])
    #expect(some.count == 16 && some.prefix == 4 && !some.isPrefix)
    #expect(some.gaps(upTo: 25) == [4..<6, 8..<10, 20..<25] && some.gaps(upTo: 9) == [4..<6, 8..<9])
    #expect(some.clipped(to: 7).ranges == [0..<4, 6..<7] && some.clipped(to: 0).ranges.isEmpty)
    let none = ByteRanges()
    #expect(none.count == 0 && none.prefix == 0 && none.isPrefix && none.gaps(upTo: 3) == [0..<3])
    #expect(none.gaps(upTo: 0).isEmpty && ByteRanges([2..<3]).prefix == 0)
    #expect(ByteRanges([0..<3]).isPrefix && ByteRanges([0..<3]).gaps(upTo: 3).isEmpty)
  }

  @Test("After random insertions the ranges contain the same bytes as a plain set", arguments: 0..<20)
  func random(_ seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var (ranges, plain) = (ByteRanges(), Set<Int64>())
    for _ in 0..<50 {
      let start = Int64.random(in: 0..<100, using: &generator)
      let range = start..<start + Int64.random(in: 0..<12, using: &generator)
      ranges.insert(range)
      plain.formUnion(range)
      #expect(ranges.ranges.flatMap { Array($0) } == plain.sorted() && Int(ranges.count) == plain.count)
      let gaps = ranges.gaps(upTo: 112).flatMap { Array($0) }
      #expect(gaps == (0..<112).filter { !plain.contains($0) })
    }
  }
}

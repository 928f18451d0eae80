import ApusTesting
import Testing

@testable import ApusCore

@Suite("The heap of numbers with ranks")
struct IndexedHeapTests {
  @Test("Numbers leave the heap in the order of their ranks", arguments: 0..<50 as Range<UInt64>)
  func heap(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var heap = IndexedHeap<Int>()
    var ranks: [Int: Int] = [:]
    for _ in 0..<300 {
      let id = Int.random(in: 0..<40, using: &random)
      if Int.random(in: 0..<3, using: &random) == 0 {
        heap.remove(id)
        ranks[id] = nil
      } else {
        let rank = Int.random(in: 0..<100, using: &random)
        heap.set(id, to: rank)
        ranks[id] = rank
      }
      #expect(heap.count == ranks.count)
      #expect(heap.first?.rank == ranks.values.min())
    }
    while let first = heap.first {
      #expect(first.rank == ranks.values.min())
      #expect(ranks[first.id] == first.rank)
      heap.remove(first.id)
      ranks[first.id] = nil
    }
    #expect(ranks.isEmpty)
  }
}

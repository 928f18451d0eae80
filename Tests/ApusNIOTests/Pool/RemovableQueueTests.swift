import Testing

import struct ApusTesting.SeededGenerator

@testable import ApusNIO

@Suite("Waiter queue")
struct RemovableQueueTests {
  @Test("Elements leave the queue in the order in which they entered, except for removed elements")
  func order() {
    var queue = RemovableQueue<Int>()
    for id in 0..<5 { queue.append(id) }
    let removals = [0, 3, 3].map { queue.remove($0) }
    #expect(removals == [true, true, false])
    #expect(queue.all == [1, 2, 4])
    #expect(queue.popFirst() == 1)
    _ = queue.remove(4)
    #expect(queue.popFirst() == 2)
    #expect(queue.popFirst() == nil)
    #expect(queue.isEmpty)
  }

  @Test("Memory stays proportional to the elements, even if the first element stays and all later elements are removed")
  func short() {
    var queue = RemovableQueue<Int>()
    queue.append(-1)
    for id in 0..<100_000 {
      queue.append(id)
      if id >= 3 { _ = queue.remove(id - 3) }
      #expect(queue.places.count <= 50)
    }
    #expect(queue.all == [-1, 99_997, 99_998, 99_999])
    #expect(queue.popFirst() == -1 && queue.popFirst() == 99_997)
  }

  @Test("After any steps the queue equals a plain list", arguments: 0..<20 as Range<UInt64>)
  func againstList(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var queue = RemovableQueue<Int>()
    var list: [Int] = []
    for id in 0..<600 {
      switch Int.random(in: 0..<4, using: &random) {
      case 0: #expect(queue.popFirst() == (list.isEmpty ? nil : list.removeFirst()))
      case 1 where !list.isEmpty:
        let victim = list.remove(at: Int.random(in: 0..<list.count, using: &random))
        let wasThere = queue.remove(victim)
        #expect(wasThere)
      default:
        queue.append(id)
        list.append(id)
      }
      #expect(queue.count == list.count)
    }
    #expect(queue.all == list)
  }
}

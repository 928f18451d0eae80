import ApusTesting
import Testing

@testable import ApusCore

private func at(_ milliseconds: Int) -> MonotonicInstant { MonotonicInstant(sinceStart: .milliseconds(milliseconds)) }

@Suite("The heap of deadlines")
struct DeadlineHeapTests {
  private struct Entry {
    let instant: MonotonicInstant
    let number: Int
    let key: DeadlineHeap<Int>.Key
  }

  @Test("After random insertions and removals, expired entries are returned, earliest first", arguments: 0..<100)
  func model(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var heap = DeadlineHeap<Int>()
    var model: [Entry] = []
    var spent: [DeadlineHeap<Int>.Key] = []
    for number in 0..<300 {
      switch Int.random(in: 0..<10, using: &generator) {
      case 0...5:
        let instant = at(Int.random(in: 0..<200, using: &generator))
        model.append(Entry(instant: instant, number: number, key: heap.insert(number, at: instant)))
      case 6...7:
        guard let index = model.indices.randomElement(using: &generator) else { continue }
        let entry = model.remove(at: index)
        #expect(heap.remove(entry.key) == entry.number)
        spent.append(entry.key)
      case 8:
        // The key of a removed entry finds no entry, even if its slot is in use again.
        if let key = spent.randomElement(using: &generator) { #expect(heap.remove(key) == nil) }
      default:
        let now = at(Int.random(in: 0..<100, using: &generator))
        let expired = heap.removeExpired(at: now)
        let expected = model.filter { $0.instant <= now }
        #expect(Set(expired) == Set(expected.map(\.number)))
        let instants = expired.compactMap { number in expected.first { $0.number == number }?.instant }
        #expect(instants == instants.sorted())
        spent += expected.map(\.key)
        model.removeAll { $0.instant <= now }
      }
      #expect(heap.count == model.count)
      #expect(heap.earliest == model.map(\.instant).min())
    }
  }
}

import ApusTesting
import Testing

@testable import ApusMiddleware

@Suite("Waiter queue")
struct WaiterQueueTests {
  @Test("WaiterQueue's storage stays proportional to its length, even if the queue is never empty")
  func short() {
    var line = WaiterQueue<Int>()
    for number in 0..<5 { line.append(number) }
    for number in 5..<100_000 {
      line.append(number)
      #expect(line.popFirst() == number - 5)
      #expect(line.storageCount <= 80)
    }
  }

  @Test("In any order of events WaiterQueue keeps the order of arrival", arguments: 0..<50 as Range<UInt64>)
  func model(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var line = WaiterQueue<Int>()
    var model: [Int] = []
    for number in 0..<600 {
      switch Int.random(in: 0..<10, using: &generator) {
      case 0..<5:
        line.append(number)
        model.append(number)
      case 5..<8:
        let other = Int.random(in: 0...number, using: &generator)
        line.remove(other)
        model.removeAll { $0 == other }
      case 8:
        let first = line.popFirst()
        #expect(first == model.first)
        model = Array(model.dropFirst())
      default:
        guard number % 50 == 0 else { continue }
        let all = line.popAll()
        #expect(all == model)
        model = []
      }
      #expect(line.all == model && line.count == model.count && line.isEmpty == model.isEmpty, "seed \(seed)")
    }
  }
}

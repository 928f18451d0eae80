import ApusCore
import Testing

@testable import ApusTesting

private func at(_ seconds: Int) -> MonotonicInstant { MonotonicInstant(sinceStart: .seconds(seconds)) }

@Suite("Simulation: agenda")
struct AgendaTests {
  private func plan(_ items: [(String, Int)]) -> (agenda: Agenda<String>, numbers: [UInt64]) {
    var agenda = Agenda<String>()
    var numbers: [UInt64] = []
    for (item, seconds) in items {
      let number = agenda.newNumber()
      agenda.plan(item, at: at(seconds), number: number)
      numbers.append(number)
    }
    return (agenda, numbers)
  }

  private func drain(_ agenda: inout Agenda<String>) -> [String] {
    var all: [String] = []
    while let item = agenda.next() { all.append(item) }
    return all
  }

  @Test("An agenda returns items in order of their instant, then of planning")
  func order() {
    var agenda = plan([("c", 3), ("a", 1), ("d", 3), ("b", 2), ("e", 3)]).agenda
    let due = agenda.nextInstant()
    #expect(due == at(1))
    let drained = drain(&agenda)
    #expect(drained == ["a", "b", "c", "d", "e"])
    #expect(agenda.now == at(3))
    #expect(agenda.count == 0)
  }

  @Test("A cancelled agenda item is not returned and does not advance the time")
  func cancelled() {
    let (planned, numbers) = plan([("a", 1), ("b", 2), ("c", 3)])
    var agenda = planned
    let taken = agenda.cancel(numbers[0])
    #expect(taken == "a")
    let again = agenda.cancel(numbers[0])
    #expect(again == nil)
    let due = agenda.nextInstant()
    #expect(due == at(2))
    _ = agenda.cancel(numbers[2])
    let drained = drain(&agenda)
    #expect(drained == ["b"])
    #expect(agenda.now == at(2))
  }

  @Test("An agenda item planned for the past is the next item and does not move the time back")
  func past() {
    var agenda = plan([("a", 5), ("c", 6)]).agenda
    _ = agenda.next()
    let number = agenda.newNumber()
    agenda.plan("b", at: at(1), number: number)
    let drained = drain(&agenda)
    #expect(drained == ["b", "c"])
    #expect(agenda.now == at(6))
  }

  @Test("All remaining agenda items are removed in order of planning")
  func removingAll() {
    var agenda = plan([("a", 3), ("b", 1), ("c", 2)]).agenda
    let all = agenda.removeAll()
    #expect(all == ["a", "b", "c"])
    let due = agenda.nextInstant()
    #expect(due == nil)
  }

  @Test(
    "Agenda items planned in random order are returned in order of their instants", arguments: 0..<20 as Range<UInt64>)
  func random(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let items = (0..<300).map { ("\($0)", Int.random(in: 0..<50, using: &generator)) }
    let (planned, numbers) = plan(items)
    var agenda = planned
    var model = items.indices.map { (index: $0, seconds: items[$0].1) }
    for index in items.indices where Int.random(in: 0..<3, using: &generator) == 0 {
      _ = agenda.cancel(numbers[index])
      model.removeAll { $0.index == index }
    }
    let sorted = model.sorted { ($0.seconds, $0.index) < ($1.seconds, $1.index) }
    let drained = drain(&agenda)
    #expect(drained == sorted.map { "\($0.index)" })
  }
}

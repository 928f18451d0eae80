import ApusTesting
import HTTPTypes
import Testing

@testable import ApusCore

@Suite("The state of a shared exchange")
struct FlightStateTests {
  private let result = Result<ResponseMessage, any Error>.success(
    ResponseMessage(head: HTTPResponse(status: .accepted)))

  @Test("in any order each who waits is answered once, and it is given up when the last has left", arguments: 0..<300)
  func model(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var state = FlightState<UInt64>()
    var inside: Set<UInt64> = []
    var waiting: Set<UInt64> = []
    var gone: Set<UInt64> = []
    var answered: [UInt64: String] = [:]
    var isOver = false
    var wasAbandoned = false
    var nextID: UInt64 = 0

    func answer(_ id: UInt64, _ how: String) {
      #expect(answered[id] == nil, "\(id) was answered twice")
      answered[id] = how
    }

    for _ in 0..<60 {
      switch Int.random(in: 0..<12, using: &generator) {
      case 0...3:
        nextID += 1
        let isIn = state.expect(nextID)
        #expect(isIn == (!isOver && !wasAbandoned))
        if isIn { inside.insert(nextID) }
      case 4...7:
        // Everybody waits once, whether or not the exchange is over or the call cancelled meanwhile.
        let candidates = inside.union(gone).subtracting(waiting).filter { answered[$0] == nil }.sorted()
        guard let id = candidates.randomElement(using: &generator) else { continue }
        switch state.wait(id, id: id) {
        case .waits:
          #expect(!isOver && !gone.contains(id))
          waiting.insert(id)
        case .resume(let waiter, .success):
          #expect(isOver && !gone.contains(id))
          answer(waiter, "result")
        case .resume(let waiter, .failure(let error)):
          #expect(gone.contains(id) && error is CancellationError)
          answer(waiter, "cancelled")
        }
      case 8...10:
        guard let id = inside.sorted().randomElement(using: &generator), answered[id] == nil else { continue }
        let (waiter, isAbandoned) = state.leave(id)
        inside.remove(id)
        gone.insert(id)
        #expect(waiter == (waiting.contains(id) ? id : nil))
        #expect(isAbandoned == (inside.isEmpty && !isOver))
        if waiting.remove(id) != nil { answer(id, "cancelled") }
        wasAbandoned = wasAbandoned || isAbandoned
      default:
        let resumed = state.complete(result)
        #expect(Set(resumed) == waiting)
        isOver = true
        for id in resumed { answer(id, "result") }
        waiting = []
      }
    }
    for id in state.complete(result) { answer(id, "result") }
    for id in inside.union(gone) where answered[id] == nil {
      guard case .resume(let waiter, _) = state.wait(id, id: id) else {
        Issue.record("\(id) would wait for ever")
        continue
      }
      answer(waiter, "late")
    }
    #expect(Set(answered.keys) == inside.union(gone))
  }
}

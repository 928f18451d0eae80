import ApusTesting
import HTTPTypes
import Testing

@testable import ApusCore

@Suite("The state of a shared exchange")
struct FlightStateTests {
  private let result = Result<ResponseMessage, any Error>.success(
    ResponseMessage(head: HTTPResponse(status: .accepted)))

  private enum Step: Sendable {
    case come(UInt64)
    /// A call tries to join after a no-store response has begun.
    case comeLate(UInt64)
    case wait(UInt64)
    case leave(UInt64)
    case complete
  }

  private static let rows: [[(Step, String)]] = [
    [(.come(1), "in"), (.wait(1), "waits"), (.complete, "answers [1]"), (.come(2), "not in")],
    [(.come(1), "in"), (.come(2), "in"), (.wait(2), "waits"), (.wait(1), "waits"), (.complete, "answers [1, 2]")],
    // One call leaves, which does not affect the other call.
    [
      (.come(1), "in"), (.wait(1), "waits"), (.come(2), "in"), (.wait(2), "waits"), (.leave(1), "answers 1"),
      (.come(3), "in"), (.complete, "answers [2]"), (.wait(3), "result"),
    ],
    // A call is cancelled before it waits.
    [(.come(1), "in"), (.come(2), "in"), (.leave(1), "nobody"), (.wait(1), "cancelled"), (.wait(2), "waits")],
    // The last call leaves: no call joins any more.
    [(.come(1), "in"), (.wait(1), "waits"), (.leave(1), "answers 1, abandoned"), (.come(2), "not in")],
    [(.come(1), "in"), (.leave(1), "nobody, abandoned"), (.complete, "answers []"), (.wait(1), "cancelled")],
    // The exchange ends before the call waits; leaving afterwards is too late.
    [(.come(1), "in"), (.complete, "answers []"), (.wait(1), "result"), (.leave(1), "nobody")],
    [(.come(1), "in"), (.wait(1), "waits"), (.complete, "answers [1]"), (.complete, "answers []")],
    // A call that never joined cannot leave, and no call leaves twice.
    [(.come(1), "in"), (.leave(2), "nobody"), (.come(2), "in"), (.leave(2), "nobody"), (.leave(2), "nobody")],
    [(.come(1), "in"), (.comeLate(2), "not in"), (.come(3), "in")],
  ]

  @Test(
    "Each step of a shared exchange returns the waiters to resume, and whether a call joins", arguments: rows.indices)
  func table(row: Int) {
    var state = FlightState<UInt64>(terms: FlightTerms(bytes: 10, joinsNoStore: false))
    for (index, (step, expected)) in Self.rows[row].enumerated() {
      #expect(answer(to: step, &state) == expected, "step \(index): \(step)")
    }
  }

  private func answer(to step: Step, _ state: inout FlightState<UInt64>) -> String {
    switch step {
    case .come(let id): return state.expect(id) ? "in" : "not in"
    case .comeLate(let id): return state.expect(id, at: ResponseProgress(isNoStore: true)) ? "in" : "not in"
    case .wait(let id):
      switch state.wait(id, id: id) {
      case .waits: return "waits"
      case .resume(_, .success): return "result"
      case .resume(_, .failure): return "cancelled"
      }
    case .leave(let id):
      let (waiter, isAbandoned) = state.leave(id)
      return (waiter.map { "answers \($0)" } ?? "nobody") + (isAbandoned ? ", abandoned" : "")
    case .complete: return "answers \(state.complete(result))"
    }
  }

  @Test(
    "In any order of steps every waiter is resumed once, and the exchange is abandoned when the last call has left",
    arguments: 0..<300)
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
        // Every call waits once, whether or not the exchange has ended or the call was cancelled.
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

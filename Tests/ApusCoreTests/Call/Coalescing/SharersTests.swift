import Testing

@testable import ApusCore

@Suite("Calls that share an exchange")
struct SharersTests {
  @Test("The sharers are the calls that joined and have not left, in order")
  func members() {
    var state = SharersState<String, Int>()
    for (serial, name) in [(3, "a"), (1, "b"), (2, "c")] {
      let told = state.join(name, UInt64(serial))
      #expect(told.isEmpty)
    }
    #expect(state.members == ["a", "b", "c"])
    state.leave(1)
    state.leave(1)
    state.leave(9)
    #expect(state.members == ["a", "c"])
  }

  @Test("Listeners are notified of every call that joins until they are removed")
  func listening() {
    var state = SharersState<String, Int>()
    let (first, second) = (state.listen(10), state.listen(20))
    #expect(first != second)
    var told = [state.join("a", 1)]
    state.endListening(first)
    state.endListening(first)
    told.append(state.join("b", 2))
    state.endListening(second)
    told.append(state.join("c", 3))
    #expect(told == [[10, 20], [20], []])
  }

  @Test("A new listener is notified of the calls that already share the exchange")
  func late() {
    let sharers = Sharers()
    let told = Log<TaskPriority>()
    sharers.join(member(.low), serial: 1)
    let listening = sharers.listen { told.add($0.taskPriority) }
    sharers.join(member(.high), serial: 2)
    sharers.leave(1)
    listening.end()
    sharers.join(member(.medium), serial: 3)
    #expect(told.all == [.low, .high])
    #expect(sharers.members.map(\.taskPriority) == [.high, .medium])
  }

  private func member(_ priority: TaskPriority) -> Sharers.Member {
    Sharers.Member(values: ContextValues(), taskPriority: priority)
  }
}

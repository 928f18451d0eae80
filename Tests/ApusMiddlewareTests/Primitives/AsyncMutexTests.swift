import ApusTesting
import Synchronization
import Testing

@testable import ApusMiddleware

/// A counter of the tasks that hold the mutex, and a record of the order in which they release it.
private final class Room: Sendable {
  struct Books: Sendable {
    var inside = 0
    var most = 0
    var order: [Int] = []
  }

  private let books = Mutex(Books())

  var now: Books { books.withLock { $0 } }

  func visit(_ number: Int, isRefused: Bool = false) async throws {
    books.withLock { books in
      books.inside += 1
      books.most = max(books.most, books.inside)
    }
    for _ in 0..<2 { await Task.yield() }
    books.withLock { books in
      books.inside -= 1
      books.order.append(number)
    }
    if isRefused { throw Refused() }
  }
}

private struct Refused: Error {}

@Suite("Async mutex")
struct TurnsTests {
  /// The cancellation of a ticket while the first of three tickets holds the mutex.
  struct Row: Sendable, CustomTestStringConvertible {
    let name: String
    let ticket: UInt64
    let waited: Bool
    /// The holder after the first ticket has left.
    let next: UInt64

    var testDescription: String { name }

    static let all = [
      Row(name: "the holder", ticket: 0, waited: false, next: 1),
      Row(name: "the first that waits", ticket: 1, waited: true, next: 2),
      Row(name: "the last that waits", ticket: 2, waited: true, next: 1),
      Row(name: "an unknown ticket", ticket: 7, waited: false, next: 1),
    ]
  }

  @Test("AsyncMutexState skips a cancelled waiting ticket; other tickets cannot be cancelled", arguments: Row.all)
  func givingUp(row: Row) {
    var state = AsyncMutexState()
    let tickets = [state.enter(), state.enter(), state.enter()]
    #expect(tickets.map { state.position(of: $0) } == [.holds, .waits, .waits])
    let waited = state.cancel(row.ticket)
    #expect(waited == row.waited)
    #expect(state.position(of: row.ticket) == (row.ticket == 0 ? .holds : .gone))
    #expect(state.leave(0) == row.next)
    #expect(state.position(of: 0) == .gone)
  }

  @Test("In any order of events a mutex has at most one holder, and the first waiter is the next holder")
  func everyOrder() {
    var seen: Set<AsyncMutexState> = []
    func explore(_ state: AsyncMutexState, tickets: [UInt64]) {
      guard seen.insert(state).inserted else { return }
      let waiting = tickets.filter { state.position(of: $0) == .waits }
      #expect(tickets.count { state.position(of: $0) == .holds } == (state.holder == nil ? 0 : 1))
      #expect(state.holder != nil || waiting.isEmpty)
      #expect(state.queue == waiting.sorted())
      if tickets.count < 4 {
        var next = state
        let ticket = next.enter()
        #expect(next.position(of: ticket) == (state.holder == nil ? .holds : .waits))
        explore(next, tickets: tickets + [ticket])
      }
      for ticket in tickets {
        var left = state
        let follower = left.leave(ticket)
        #expect(follower == (state.holder == ticket ? waiting.min() : nil))
        explore(left, tickets: tickets)
        var without = state
        let waited = without.cancel(ticket)
        #expect(waited == waiting.contains(ticket))
        #expect(waited || without == state)
        explore(without, tickets: tickets)
      }
    }
    explore(AsyncMutexState(), tickets: [])
    #expect(seen.count == 31)
  }

  @Test("Tasks with a mutex run one after the other in order of arrival, whether they succeed or fail")
  func oneAtATime() async throws {
    let (turns, room, executor) = (AsyncMutex(), Room(), ManualExecutor())
    let tasks = (0..<4).map { number in
      Task(executorPreference: executor) {
        try await turns.withLock { try await room.visit(number, isRefused: number == 1) }
      }
    }
    for (number, task) in tasks.enumerated() {
      let result = await executor.finish(task)
      #expect((try? result.get()) != nil || number == 1)
    }
    #expect(room.now.most == 1)
    #expect(room.now.order == [0, 1, 2, 3])
  }

  @Test("A task that is cancelled at any step does not block a mutex for other tasks", arguments: 0..<3)
  func cancelled(number: Int) async throws {
    for steps in 0..<14 {
      let (turns, room, executor) = (AsyncMutex(), Room(), ManualExecutor())
      let tasks = (0..<3).map { number in
        Task(executorPreference: executor) { try await turns.withLock { try await room.visit(number) } }
      }
      executor.run(jobs: steps)
      tasks[number].cancel()
      var done: [Int] = []
      for (number, task) in tasks.enumerated() {
        switch await executor.finish(task) {
        case .success: done.append(number)
        case .failure(let error): #expect(error is CancellationError)
        }
      }
      #expect(room.now.order == done, "\(steps)")
      #expect(Set(done).union([number]).count == 3, "\(steps)")
      #expect(room.now.most == 1, "\(steps)")
      // The mutex is unlocked again.
      try await turns.withLock { try await room.visit(9) }
    }
  }

  @Test("A cancelled task can acquire an unlocked mutex, but does not wait for a locked mutex")
  func alreadyCancelled() async throws {
    let (turns, gate) = (AsyncMutex(), Gate())
    let free = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await turns.withLock { Task.isCancelled }
    }
    #expect(try await free.value)
    let holder = Task { try await turns.withLock { try await gate.wait() } }
    try await gate.waitForArrivals(1)
    let waiting = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await turns.withLock {}
    }
    await #expect(throws: CancellationError.self) { try await waiting.value }
    gate.open()
    try await holder.value
  }

  @Test("MemoryCredentialsStore performs refreshes exclusively")
  func memory() async throws {
    let (tokens, room, executor) = (MemoryCredentialsStore(), Room(), ManualExecutor())
    let tasks = (0..<3).map { number in
      Task(executorPreference: executor) { try await tokens.withLock { try await room.visit(number) } }
    }
    for task in tasks { try await executor.finish(task).get() }
    #expect(room.now.most == 1)
    #expect(room.now.order == [0, 1, 2])
  }
}

import ApusCore
import ApusTesting
import Synchronization
import Testing

@testable import ApusMiddleware

@Suite("Scheduler: load")
struct SchedulerLoadTests {
  private static let many = 100_000
  private let now = MonotonicInstant(sinceStart: .zero)

  private func newcomer(_ number: Int, origins: Int) -> SchedulerState.Attempt {
    var newcomer = SchedulerBench.newcomer(at: "host\(number % origins)")
    newcomer.tags = number.isMultiple(of: 3) ? ["images"] : ["others"]
    newcomer.priority = CallPriority.allCases[number % 5]
    newcomer.deadline = now.advanced(by: .seconds(60 + number % 100))
    return newcomer
  }

  private func ticket(_ admission: SchedulerState.Admission) -> SchedulerState.Ticket? {
    switch admission {
    case .runs(let ticket): ticket
    case .waits(let ticket, _): ticket
    case .refused: nil
    }
  }

  @Test("With 100,000 queued attempts a further attempt is refused, and all attempts can be cancelled")
  func givingUp() {
    let origins = 1000
    var state = SchedulerState(ConcurrencyLimits(global: 1, tags: ["images": 1]))
    var tickets: [SchedulerState.Ticket] = []
    for number in 0...Self.many {
      if let ticket = ticket(state.enter(newcomer(number, origins: origins), now: now)) { tickets.append(ticket) }
    }
    #expect(state.waiting == Self.many)
    let refused = state.enter(newcomer(0, origins: origins), now: now)
    #expect(refused == .refused(.queueFull(limit: Self.many)))
    // Two of three attempts move to lines of their own.
    state.pause("others")
    let gaveUp = tickets.count { state.cancelWaiting($0) }
    #expect(gaveUp == Self.many)
    for ticket in tickets { state.leave(ticket, now: now) }
    state.resume("others")
    #expect(state.isIdle)
  }

  @Test("20,000 queued attempts each run once")
  func serving() {
    let count = 20_000
    var state = SchedulerState(ConcurrencyLimits(global: 1, tags: ["images": 1]))
    var running = ticket(state.enter(newcomer(0, origins: 500), now: now))
    for number in 1..<count { _ = state.enter(newcomer(number, origins: 500), now: now) }
    var served: Set<SchedulerState.Ticket> = []
    while let ticket = running {
      served.insert(ticket)
      state.leave(ticket, now: now)
      running = state.next(now: now)?.ticket
    }
    #expect(served.count == count)
    #expect(state.isIdle)
  }

  @Test("100,000 suspended tasks can be cancelled, and each throws a CancellationError")
  func cancelling() async {
    let (scheduler, clock, now) = (Scheduler(), ManualClock(.manual), self.now)
    scheduler.pauseAll()
    var tickets: [SchedulerState.Ticket] = []
    for _ in 0..<Self.many {
      let newcomer = SchedulerBench.newcomer()
      let admission = scheduler.shared.withLock { $0.enter(newcomer, now, clock) }
      if let ticket = ticket(admission) { tickets.append(ticket) }
    }
    #expect(scheduler.queuedCount == Self.many)
    let tasks = tickets.map { ticket in
      Task {
        do {
          _ = try await scheduler.verdict(on: ticket)
          return false
        } catch {
          return error is CancellationError
        }
      }
    }
    // Some tasks are already waiting. The other tasks do not wait yet.
    for task in tasks { task.cancel() }
    var cancelled = 0
    for task in tasks {
      if await task.value { cancelled += 1 }
    }
    #expect(cancelled == Self.many)
    #expect(scheduler.queuedCount == 0)
    for ticket in tickets { scheduler.leave(ticket, at: now) }
    scheduler.resumeAll()
    let isIdle = scheduler.shared.withLock { $0.state.isIdle }
    #expect(isIdle)
  }
}

import ApusCore
import ApusTesting
import TestSupport
import Testing

private func at(_ seconds: Int) -> MonotonicInstant { MonotonicInstant(sinceStart: .seconds(seconds)) }

@Suite("ManualClock")
struct ManualClockTests {
  @Test("A manual clock advances only on request, and never backwards")
  func advancing() {
    let clock = ManualClock(.manual, at: at(10))
    #expect(clock.now == at(10))
    clock.advance(by: .seconds(5))
    #expect(clock.now == at(15))
    clock.advance(to: at(20))
    clock.advance(to: at(3))
    clock.advance(by: .seconds(-1))
    #expect(clock.now == at(20))
  }

  @Test("Sleeping on a manual clock until a past instant returns immediately")
  func past() async throws {
    let clock = ManualClock(.manual, at: at(10))
    try await clock.sleep(until: at(10))
    try await clock.sleep(until: at(1))
    #expect(clock.sleepers == 0)
  }

  @Test("Sleepers of a manual clock wake in order of their instants, whatever their order of arrival")
  func order() async throws {
    let clock = ManualClock(.manual)
    let executor = ManualExecutor()
    let woken = Log<Int>()
    let tasks = [3, 1, 2, 1, 4].map { seconds in
      Task(executorPreference: executor) {
        try await clock.sleep(until: at(seconds))
        woken.add(seconds)
      }
    }
    executor.runAll()
    #expect(clock.sleepers == 5)
    #expect(clock.nextWake == at(1))
    clock.advance(to: at(3))
    executor.runAll()
    #expect(woken.all == [1, 1, 2, 3])
    #expect(clock.sleepers == 1)
    #expect(clock.advanceToNextWake())
    executor.runAll()
    #expect(clock.now == at(4))
    #expect(!clock.advanceToNextWake())
    for task in tasks { try await task.value }
  }

  @Test("A cancelled sleeper of a manual clock throws CancellationError and is removed")
  func cancelled() async throws {
    let clock = ManualClock(.manual)
    let sleeper = Task { try await clock.sleep(until: at(1)) }
    try await clock.waitForSleepers(1)
    sleeper.cancel()
    await #expect(throws: CancellationError.self) { try await sleeper.value }
    #expect(clock.sleepers == 0)
  }

  @Test("A task that is already cancelled does not sleep on a manual clock")
  func cancelledBefore() async throws {
    let clock = ManualClock(.manual)
    let start = Gate()
    let sleeper = Task {
      try? await start.wait()
      try await clock.sleep(until: at(1))
    }
    sleeper.cancel()
    await #expect(throws: CancellationError.self) { try await sleeper.value }
  }

  @Test("Each sleeper of a manual clock, cancelled or woken at random, ends once", arguments: 0..<8)
  func random(seed: UInt64) async throws {
    let clock = ManualClock(.manual)
    var generator = SeededGenerator(seed: seed)
    let sleepers = (0..<200).map { _ in
      let instant = at(Int.random(in: 1...50, using: &generator))
      return Task { try await clock.sleep(until: instant) }
    }
    try await clock.waitForSleepers(200)
    var cancelled: Set<Int> = []
    for _ in 0..<50 {
      let index = Int.random(in: 0..<200, using: &generator)
      if clock.now == at(0) { cancelled.insert(index) }
      sleepers[index].cancel()
      if cancelled.count > 20 { clock.advance(by: .seconds(1)) }
    }
    clock.advance(to: at(50))
    for (index, sleeper) in sleepers.enumerated() {
      let result = await sleeper.result
      if cancelled.contains(index) { #expect(throws: CancellationError.self) { try result.get() } }
    }
    #expect(clock.sleepers == 0)
  }
}

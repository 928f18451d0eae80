import ApusCore
import Testing

@testable import ApusMiddleware

@Suite("Scheduler: deadlines")
struct SchedulerDeadlineTests {
  private func at(_ seconds: Int) -> MonotonicInstant { MonotonicInstant(sinceStart: .seconds(seconds)) }

  @Test("A queued attempt whose deadline has passed is removed at the next step and uses no permit")
  func passed() {
    var bench = SchedulerBench(ConcurrencyLimits(global: 1))
    bench.enter("0")
    bench.enter("short") { $0.deadline = at(5) }
    bench.enter("long") { $0.deadline = at(50) }
    bench.enter("endless")
    bench.seconds = 5
    bench.leave("0")
    #expect(bench.late == ["short"])
    #expect(bench.started == ["0", "long"])
    bench.leave("short", "long", "endless")
    #expect(bench.state.isIdle)
  }

  @Test("An attempt whose deadline is closer than its expected wait is refused immediately")
  func passedOnArrival() {
    var bench = SchedulerBench(ConcurrencyLimits(global: 1))
    bench.seconds = 5
    bench.enter("0") { $0.deadline = at(4) }
    bench.enter("1") { $0.deadline = at(5) }
    #expect(bench.started == ["0"])
    #expect(bench.refusals == ["1": .deadlineTooNear])
    bench.leave("0")
    #expect(bench.state.isIdle)
  }

  /// Returns a bench with a busy server that takes ten seconds for a call.
  private func slow(refusing: Bool, calls: Int = TypicalTime.minimum) -> SchedulerBench {
    var bench = SchedulerBench(ConcurrencyLimits(global: 2, perOrigin: 2).with { $0.refusesLateCalls = refusing })
    bench.enter("always")
    for number in 0..<calls {
      bench.enter("\(number)")
      bench.seconds += 10
      bench.leave("\(number)")
    }
    bench.enter("running")
    return bench
  }

  @Test(
    "With refusesLateCalls, an attempt with less time left than the typical duration is refused",
    arguments: [true, false])
  func hopeless(refusing: Bool) {
    var bench = slow(refusing: refusing)
    let now = bench.seconds
    bench.enter("hopeless") { $0.deadline = at(now + 9) }
    bench.enter("waiting in vain") { $0.deadline = at(now + 14) }
    bench.enter("hopeful") { $0.deadline = at(now + 30) }
    #expect(bench.refusals == (refusing ? ["hopeless": .deadlineTooNear] : [:]))
    bench.seconds += 6
    bench.leave("running")
    #expect(bench.late == (refusing ? ["waiting in vain"] : []))
    #expect(bench.started.last == (refusing ? "hopeful" : "hopeless"))
  }

  @Test("Too few samples, and samples of an origin that was idle since, have no effect")
  func unknown() {
    var few = slow(refusing: true, calls: TypicalTime.minimum - 1)
    let now = few.seconds
    few.enter("short") { $0.deadline = at(now + 1) }
    #expect(few.refusals.isEmpty)
    var idle = slow(refusing: true)
    idle.leave("always", "running")
    #expect(idle.state.isIdle)
    idle.enter("0")
    idle.enter("1")
    let later = idle.seconds
    idle.enter("short") { $0.deadline = at(later + 1) }
    #expect(idle.refusals.isEmpty)
  }

  @Test("If the server has become too slow meanwhile, a queued attempt is refused at the time at which it would run")
  func slower() {
    var bench = SchedulerBench(ConcurrencyLimits(global: 2, perOrigin: 2))
    bench.enter("always")
    bench.enter("0")
    bench.enter("short", .low)
    bench.enter("impatient") {
      $0.deadline = at(100)
      $0.priority = .background
    }
    // All of these attempts run before the queued attempt.
    for number in 1...20 { bench.enter("\(number)", .immediate) }
    var last = "0"
    while last != "20" {
      bench.seconds += last == "0" ? 1 : 4
      bench.leave(last)
      last = bench.started.last ?? "20"
    }
    bench.leave("20")
    #expect(bench.started.last == "short")
    bench.seconds = 98
    bench.leave("short")
    #expect(bench.late == ["impatient"])
  }

  @Test("A queued attempt is not refused if the server has become faster meanwhile")
  func faster() {
    var bench = slow(refusing: true)
    let now = bench.seconds
    bench.enter("patient") {
      $0.deadline = at(now + 30)
      $0.priority = .background
    }
    // All of these attempts run before the queued attempt, and take no time.
    for number in 1...50 { bench.enter("quick \(number)", .immediate) }
    bench.leave("running")
    for number in 1...49 { bench.leave("quick \(number)") }
    bench.seconds += 21
    bench.leave("quick 50")
    #expect(bench.late.isEmpty)
    #expect(bench.started.last == "patient")
  }

  @Test("With a limit of one, an attempt that became too late in the queue is refused when it would run")
  func oneAtATime() {
    var bench = SchedulerBench(ConcurrencyLimits(global: 2, perOrigin: 1))
    bench.enter("0")
    for number in 1...TypicalTime.minimum {
      bench.enter("\(number)")
      bench.seconds += 10
      bench.leave("\(number - 1)")
    }
    let now = bench.seconds
    bench.enter("in vain") { $0.deadline = at(now + 15) }
    bench.enter("hopeful") { $0.deadline = at(now + 30) }
    bench.seconds += 10
    bench.leave("\(TypicalTime.minimum)")
    #expect(bench.late == ["in vain"])
    #expect(bench.started.last == "hopeful")
  }

  @Test("The typical duration of an origin is ignored after the origin was idle for longer than this duration")
  func idleOrigin() {
    var bench = SchedulerBench(ConcurrencyLimits(global: 2, perOrigin: 2))
    for number in 0..<TypicalTime.minimum {
      bench.enter("\(number)")
      // A running attempt keeps the origin's typical duration valid.
      if number == 0 {
        bench.change { $0.pause("held") }
        bench.enter("waits") {
          $0.tags = ["held"]
          $0.deadline = at(105)
        }
      }
      bench.seconds += 10
      bench.leave("\(number)")
    }
    bench.seconds = 100
    bench.change { $0.resume("held") }
    #expect(bench.late.isEmpty)
    #expect(bench.started.last == "waits")
  }

  @Test("The typical duration of an origin's calls is a running median")
  func typical() {
    var typical = TypicalTime()
    for _ in 1..<TypicalTime.minimum {
      typical.add(.milliseconds(100))
      #expect(typical.known == nil)
    }
    typical.add(.milliseconds(100))
    #expect(typical.known == .milliseconds(100))
    typical.add(.seconds(100))
    #expect(typical.known == .microseconds(112_500))
    for _ in 0..<100 { typical.add(.milliseconds(10)) }
    #expect(typical.known == .milliseconds(10))
  }
}

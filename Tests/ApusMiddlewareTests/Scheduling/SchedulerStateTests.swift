import ApusCore
import Testing

@testable import ApusMiddleware

@Suite("Scheduler: its state")
struct SchedulerStateTests {
  @Test("The global and per-origin limits bound the running attempts, and a queued attempt has a reason")
  func limits() {
    var bench = SchedulerBench(ConcurrencyLimits(global: 2, perOrigin: 1))
    bench.enter("a1", at: "a")
    bench.enter("a2", at: "a")
    bench.enter("b1", at: "b")
    bench.enter("c1", at: "c")
    #expect(bench.started == ["a1", "b1"])
    #expect(bench.causes == ["a2": .origin(limit: 1), "c1": .global(limit: 2)])
    #expect(bench.state.running == 2)
    #expect(bench.state.waiting == 2)
    bench.leave("b1")
    #expect(bench.started == ["a1", "b1", "c1"])
    bench.leave("a1", "c1", "a2")
    #expect(bench.started == ["a1", "b1", "c1", "a2"])
    #expect(bench.state.isIdle)
  }

  @Test("The presets app and server have their documented limits")
  func presets() {
    #expect(ConcurrencyLimits.app.global == 64)
    #expect(ConcurrencyLimits.app.perOrigin == 5)
    #expect(ConcurrencyLimits.server.global == .max)
    #expect(ConcurrencyLimits.server.perOrigin == 64)
    #expect(ConcurrencyLimits.app.queueCapacity == 100_000)
  }

  @Test("An origin may have its own limit, and a limit below one is treated as one")
  func ownLimit() {
    var bench = SchedulerBench(
      ConcurrencyLimits(global: 10, perOrigin: 0).with {
        $0.origins = [Origin(scheme: "https", host: "b", port: 443): 2]
      })
    for name in ["a1", "a2", "a3"] { bench.enter(name, at: "a") }
    for name in ["b1", "b2", "b3"] { bench.enter(name, at: "b") }
    #expect(bench.started == ["a1", "b1", "b2"])
  }

  @Test("Attempts run in order of priority, and with equal priority in order of arrival")
  func priorities() {
    var bench = SchedulerBench(ConcurrencyLimits(global: 1, perOrigin: 1))
    bench.enter("first")
    for (round, seconds) in [(1, 0), (2, 1)] {
      bench.seconds = seconds
      for priority in CallPriority.allCases { bench.enter("\(priority)\(round)", priority) }
    }
    bench.leave("first")
    for _ in 0..<10 { if let last = bench.started.last { bench.leave(last) } }
    let expected = CallPriority.allCases.reversed().flatMap { ["\($0)1", "\($0)2"] }
    #expect(bench.started == ["first"] + expected)
    #expect(bench.state.isIdle)
  }

  @Test(
    "An attempt is overtaken only by more urgent attempts that arrive within the ageing time per step",
    arguments: CallPriority.allCases, CallPriority.allCases)
  func ageing(older: CallPriority, newer: CallPriority) {
    let bound = 10 * max(0, newer.level - older.level)
    for seconds in [0, 1, 5, 9, 10, 11, 19, 20, 21, 30, 39, 40, 41] {
      var bench = SchedulerBench(ConcurrencyLimits(global: 1, perOrigin: 1))
      bench.enter("first")
      bench.enter("older", older)
      bench.seconds = seconds
      bench.enter("newer", newer)
      bench.leave("first")
      let next = seconds < bound ? "newer" : "older"
      #expect(bench.started == ["first", next], "after \(seconds) s")
    }
  }

  @Test("A queued attempt runs within the ageing bound, whatever other attempts arrive")
  func bound() {
    var bench = SchedulerBench(ConcurrencyLimits(global: 1, perOrigin: 1))
    bench.enter("0", .immediate)
    bench.enter("patient", .background)
    // Twice as many attempts arrive as can run.
    for second in 1...60 {
      bench.seconds = second
      bench.enter("\(second)", .immediate)
      bench.enter("\(second)'", .immediate)
      if let last = bench.started.last { bench.leave(last) }
      if bench.started.contains("patient") { break }
    }
    // Attempts that arrived within forty seconds after `patient` run before `patient`: 60 of 78 have run.
    #expect(!bench.started.contains("patient"))
    while bench.started.last != "patient", bench.seconds < 1000 {
      bench.seconds += 1
      bench.enter("late \(bench.seconds)", .immediate)
      if let last = bench.started.last { bench.leave(last) }
    }
    let ahead = bench.started.dropLast()
    #expect(bench.started.last == "patient")
    #expect(ahead.allSatisfy { (Int($0.prefix { $0 != "'" }) ?? 1000) < 40 })
  }

  @Test("A slow origin does not delay other origins, however many attempts wait for it")
  func skipOver() {
    var bench = SchedulerBench(ConcurrencyLimits(global: 10, perOrigin: 2))
    for number in 0..<500 { bench.enter("slow \(number)", at: "slow", .immediate) }
    for number in 0..<20 {
      bench.enter("fast \(number)", at: "fast", .background)
      bench.leave("fast \(number)")
    }
    #expect(bench.started == ["slow 0", "slow 1"] + (0..<20).map { "fast \($0)" })
    #expect(bench.state.waiting == 498)
  }

  @Test(
    "Attempts beyond the queue's capacity are refused; with a capacity of zero no attempt waits", arguments: [0, 3])
  func queue(limit: Int) {
    var bench = SchedulerBench(ConcurrencyLimits(global: 1).with { $0.queueCapacity = limit })
    for number in 0...limit + 1 { bench.enter("\(number)") }
    #expect(bench.refusals == ["\(limit + 1)": .queueFull(limit: limit)])
    #expect(bench.state.waiting == limit)
    bench.leave("0")
    bench.enter("next")
    #expect(bench.refusals.count == 1)
  }

  @Test("A cancelled attempt is skipped, at any position", arguments: ["1", "2", "3"])
  func givingUp(name: String) {
    var bench = SchedulerBench(ConcurrencyLimits(global: 1))
    for name in ["0", "1", "2", "3"] { bench.enter(name) }
    let waited = bench.giveUp(name)
    let again = bench.giveUp(name)
    let ran = bench.giveUp("0")
    #expect([waited, again, ran] == [true, false, false])
    #expect(bench.state.waiting == 2)
    bench.leave(name)
    for name in ["0", "1", "2", "3"] { bench.leave(name) }
    #expect(bench.started == ["0", "1", "2", "3"].filter { $0 != name })
    #expect(bench.state.isIdle)
  }

  @Test("A permit is returned once, and a used ticket has no effect")
  func leavingTwice() {
    var bench = SchedulerBench(ConcurrencyLimits(global: 1))
    for name in ["0", "1", "2"] { bench.enter(name) }
    bench.leave("0", "0", "0")
    #expect(bench.started == ["0", "1"])
    bench.pause("0")
    bench.resume("0")
    #expect(bench.state.running == 1)
    bench.leave("2", "1")
    #expect(bench.state.isIdle)
  }

  @Test("While an attempt is paused, another attempt runs; a resumed attempt is queued with the highest priority")
  func pausing() {
    var bench = SchedulerBench(ConcurrencyLimits(global: 1))
    bench.enter("paused", .background)
    for name in ["1", "2", "3"] { bench.enter(name, .high) }
    bench.pause("paused")
    #expect(bench.started == ["paused", "1"])
    bench.resume("paused")
    #expect(bench.state.waiting == 3)
    bench.leave("1")
    #expect(bench.started == ["paused", "1", "paused"])
    bench.leave("paused", "2", "3")
    #expect(bench.state.isIdle)
  }

  @Test("A paused attempt that ends returns no permit")
  func endingWhilePaused() {
    var bench = SchedulerBench(ConcurrencyLimits(global: 1))
    bench.enter("paused")
    bench.enter("1")
    bench.pause("paused")
    bench.leave("paused")
    bench.enter("2")
    #expect(bench.started == ["paused", "1"])
    bench.leave("1", "2")
    #expect(bench.state.isIdle)
  }
}

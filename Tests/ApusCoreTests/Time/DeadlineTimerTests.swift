import ApusTesting
import Testing

@testable import ApusCore

private func at(_ seconds: Int) -> MonotonicInstant { MonotonicInstant(sinceStart: .seconds(seconds)) }

private final class Target: DeadlineTarget {
  let name: String
  let log: Log<String>

  init(_ name: String, _ log: Log<String>) {
    (self.name, self.log) = (name, log)
  }

  func deadlinePassed() { log.add(name) }
}

@Suite("The timer of deadlines")
struct DeadlineTimerTests {
  private let clock = ManualClock(.manual)
  private let executor = ManualExecutor()
  private let log = Log<String>()

  private func timer() -> DeadlineTimer {
    DeadlineTimer(clock: clock, spawner: TaskSpawner(executor: executor))
  }

  private func advance(to second: Int) {
    executor.runAll()
    clock.advance(to: at(second))
    executor.runAll()
  }

  @Test("Targets are notified at their deadlines, earliest first, each once")
  func order() {
    let timer = timer()
    for second in [3, 1, 2] { _ = timer.schedule(Target("\(second)", log), at: at(second)) }
    advance(to: 2)
    #expect(log.all == ["1", "2"])
    advance(to: 3)
    advance(to: 9)
    #expect(log.all == ["1", "2", "3"])
    #expect(clock.sleepers == 0)
  }

  @Test("One task sleeps, however many deadlines there are")
  func oneSleeper() {
    let timer = timer()
    for second in 1...50 { _ = timer.schedule(Target("\(second)", log), at: at(second)) }
    executor.runAll()
    #expect(clock.sleepers == 1)
    #expect(clock.nextWake == at(1))
    withExtendedLifetime(timer) {}
  }

  @Test("A new earlier deadline wakes the timer earlier")
  func earlier() {
    let timer = timer()
    _ = timer.schedule(Target("late", log), at: at(10))
    executor.runAll()
    _ = timer.schedule(Target("early", log), at: at(5))
    executor.runAll()
    #expect(clock.sleepers == 1)
    advance(to: 5)
    #expect(log.all == ["early"])
    advance(to: 10)
    #expect(log.all == ["early", "late"])
  }

  @Test("A cancelled deadline is not reported and its target is released")
  func cancelled() {
    let timer = timer()
    weak var weakTarget: Target?
    do {
      let target = Target("never", log)
      weakTarget = target
      let key = timer.schedule(target, at: at(1))
      timer.cancel(key)
      timer.cancel(key)
    }
    #expect(weakTarget == nil)
    advance(to: 1)
    #expect(log.all.isEmpty)
  }

  @Test("A deadline in the past is reported immediately")
  func past() {
    clock.advance(to: at(10))
    let timer = timer()
    _ = timer.schedule(Target("past", log), at: at(1))
    executor.runAll()
    #expect(log.all == ["past"])
  }

  @Test("Releasing the timer ends its task")
  func released() {
    var timer: DeadlineTimer? = timer()
    _ = timer?.schedule(Target("never", log), at: at(1))
    executor.runAll()
    #expect(clock.sleepers == 1)
    timer = nil
    executor.runAll()
    #expect(clock.sleepers == 0)
  }

  @Test("With deadlines set and cancelled at random, each is reported exactly on time", arguments: 0..<50)
  func random(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let timer = timer()
    var pending: [(second: Int, name: String, key: DeadlineTimer.Key)] = []
    var expected: [String] = []
    var second = 0
    for number in 0..<120 {
      switch Int.random(in: 0..<4, using: &generator) {
      case 0, 1:
        let deadline = second + Int.random(in: 1...20, using: &generator)
        pending.append((deadline, "\(number)", timer.schedule(Target("\(number)", log), at: at(deadline))))
      case 2:
        guard let index = pending.indices.randomElement(using: &generator) else { continue }
        timer.cancel(pending.remove(at: index).key)
      default:
        executor.runNext(using: &generator)
        second += Int.random(in: 0...3, using: &generator)
        advance(to: second)
        expected += pending.filter { $0.second <= second }.map(\.name)
        pending.removeAll { $0.second <= second }
      }
      #expect(Set(log.all) == Set(expected))
      #expect(log.all.count == expected.count)
    }
  }
}

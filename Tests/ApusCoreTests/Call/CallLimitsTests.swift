import Testing

@testable import ApusCore

private func at(_ seconds: Int) -> MonotonicInstant { MonotonicInstant(sinceStart: .seconds(seconds)) }

private final class Target: DeadlineTarget {
  func deadlinePassed() {}
}

@Suite("The deadlines of a call and their timer")
struct CallLimitsTests {
  private let keys: [DeadlineTimer.Key]

  init() {
    var heap = DeadlineHeap<any DeadlineTarget>()
    let target = Target()
    keys = (0..<4).map { _ in heap.insert(target, at: at(0)) }
  }

  private func standard(_ seconds: Int = 30) -> CallTimeLimit { CallTimeLimit(.seconds(seconds), since: at(0)) }

  @Test("A deadline is replaced only by an earlier deadline, and the end of the call cancels the alarm")
  func earlier() {
    var limits = CallLimits()
    #expect(limits.setDeadline(at(5)) == at(5))
    #expect(limits.alarmSet(keys[0], at: at(5)) == nil)
    #expect(limits.setDeadline(at(6)) == nil && limits.deadline == at(5))
    #expect(limits.setDeadline(at(4)) == at(4) && limits.deadline == at(4))
    #expect(limits.alarmSet(keys[1], at: at(4)) == keys[0])
    // Of two alarms that are set concurrently, the earlier alarm remains.
    #expect(limits.alarmSet(keys[2], at: at(5)) == keys[2])
    #expect(limits.stop() == keys[1])
    #expect(limits.stop() == nil)
  }

  @Test("A deadline after the current alarm sets no second alarm; when the alarm fires, it is set to the deadline")
  func laterDeadline() {
    var limits = CallLimits()
    #expect(limits.setDefaultLimit(standard()) == at(20))
    _ = limits.alarmSet(keys[0], at: at(20))
    #expect(limits.setDeadline(at(25)) == nil && limits.deadline == at(25))
    #expect(limits.alarmFired(at: at(20), leaderContent: nil) == .setAlarm(at: at(25)))
    #expect(limits.alarmFired(at: at(25), leaderContent: nil) == .endCall)
    #expect(limits.expiry == nil)
  }

  @Test("An inherited deadline is fixed: neither content transfer nor the default timeout extends it")
  func hard() {
    var limits = CallLimits()
    _ = limits.setDeadline(at(40))
    _ = limits.setDefaultLimit(standard())
    for second in 1...40 { limits.contentMoved(1 << 20, at: at(second)) }
    #expect(limits.end(at: at(35)) == at(40))
    #expect(limits.alarmFired(at: at(20), leaderContent: nil) == .setAlarm(at: at(40)))
    #expect(limits.alarmFired(at: at(40), leaderContent: nil) == .endCall)
    #expect(limits.expiry == nil)
  }

  @Test("The default timeout ends the call before a later deadline, and the expired part of the timeout is recorded")
  func standardFirst() {
    var limits = CallLimits()
    _ = limits.setDeadline(at(90))
    _ = limits.setDefaultLimit(standard())
    // A second default timeout is ignored.
    #expect(limits.setDefaultLimit(standard(1)) == nil)
    #expect(limits.end(at: at(0)) == at(30))
    #expect(limits.alarmFired(at: at(20), leaderContent: nil) == .setAlarm(at: at(30)))
    #expect(limits.alarmFired(at: at(30), leaderContent: nil) == .endCall)
    #expect(limits.expiry == .total)
  }

  @Test("The default timeout does not apply while the app reads the content")
  func handling() {
    var limits = CallLimits()
    _ = limits.setDefaultLimit(standard())
    limits.endDefaultLimit()
    #expect(limits.alarmFired(at: at(20), leaderContent: nil) == .none)
    #expect(limits.end(at: at(20)) == nil)
  }

  @Test("Content transfer in a shared exchange of another call counts as the call's own transfer")
  func shared() {
    var limits = CallLimits()
    _ = limits.setDefaultLimit(standard())
    limits.shareExchange(after: .zero)
    var movement = ContentTransfer()
    for second in 1...30 { movement.moved(1 << 20, at: at(second)) }
    #expect(limits.alarmFired(at: at(30), leaderContent: movement) == .setAlarm(at: at(50)))
    #expect(limits.alarmFired(at: at(50), leaderContent: movement) == .endCall)
    #expect(limits.expiry == .stall)
  }

  @Test("After the end of a call, its limits set no alarm, and an alarm that fires has no effect")
  func stopped() {
    var limits = CallLimits()
    _ = limits.setDeadline(at(5))
    _ = limits.alarmSet(keys[0], at: at(5))
    #expect(limits.stop() == keys[0])
    #expect(limits.setDeadline(at(4)) == nil && limits.deadline == at(5))
    #expect(limits.setDefaultLimit(standard()) == nil && limits.defaultLimit == nil)
    #expect(limits.alarmSet(keys[1], at: at(4)) == keys[1])
    #expect(limits.alarmFired(at: at(9), leaderContent: nil) == .none)
    #expect(limits.stop() == nil)
  }
}

import ApusTesting
import Testing

@testable import ApusMiddleware

@Suite("Scheduler: any order of events")
struct SchedulerInterleavingTests {
  @Test(
    "In any order of events SchedulerState agrees with a model, and nothing leaks",
    arguments: 0..<120 as Range<UInt64>)
  func random(seed: UInt64) {
    var world = SchedulerWorld(seed: seed)
    for _ in 0..<250 { world.step() }
    world.finish()
    #expect(world.problems.isEmpty, "seed \(seed): \(world.problems.first ?? "")")
  }

  @Test("With refusesLateCalls, random runs refuse some attempts before their deadline")
  func hopeless() {
    var told = [0, 0]
    for seed in 0..<200 as Range<UInt64> {
      var world = SchedulerWorld(seed: seed)
      for _ in 0..<250 { world.step() }
      told[world.limits.refusesLateCalls ? 1 : 0] += world.hopeless
    }
    #expect(told[0] == 0 && told[1] > 0, "\(told)")
  }
}

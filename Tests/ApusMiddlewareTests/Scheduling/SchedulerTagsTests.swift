import ApusCore
import Testing

@testable import ApusMiddleware

@Suite("Scheduler: tags")
struct SchedulerTagsTests {
  @Test("A tag's limit applies only to its own attempts; other attempts overtake them")
  func limits() {
    var bench = SchedulerBench(ConcurrencyLimits(global: 10, perOrigin: 10, tags: ["images": 2, "thumbs": 1]))
    for number in 0..<4 { bench.enter("image \(number)") { $0.tags = ["images"] } }
    bench.enter("thumb 0") { $0.tags = ["thumbs"] }
    bench.enter("both") { $0.tags = ["thumbs", "other", "images", "images"] }
    bench.enter("list") { $0.tags = ["lists"] }
    #expect(bench.started == ["image 0", "image 1", "thumb 0", "list"])
    #expect(bench.causes["image 2"] == .tag(limit: 2))
    bench.leave("thumb 0")
    #expect(bench.started.count == 4)
    bench.leave("image 0", "image 1")
    #expect(bench.started.suffix(2) == ["image 2", "image 3"])
    bench.leave("image 2")
    #expect(bench.started.last == "both")
    bench.leave("image 3", "both", "list")
    #expect(bench.state.isIdle)
  }

  @Test("After the response head, a stream counts only toward the limits of its tags")
  func streams() {
    var bench = SchedulerBench(ConcurrencyLimits(global: 1, perOrigin: 1, tags: ["downloads": 1]))
    bench.enter("events") { $0.tags = ["events"] }
    bench.enter("list")
    bench.enter("file 0") { $0.tags = ["downloads", "other"] }
    bench.enter("file 1") { $0.tags = ["downloads"] }
    let isEventCounted = bench.stream("events")
    #expect(!isEventCounted && bench.started == ["events", "list"])
    // The permit was already returned, so a second start of the stream has no effect.
    let isCountedAgain = bench.stream("events")
    #expect(!isCountedAgain)
    bench.leave("events", "list")
    let isFileCounted = bench.stream("file 0")
    #expect(isFileCounted && bench.started == ["events", "list", "file 0"] && bench.state.running == 0)
    bench.enter("another list")
    #expect(bench.started.last == "another list")
    bench.leave("another list", "file 0")
    #expect(bench.started.last == "file 1")
    bench.leave("file 1")
    #expect(bench.state.isIdle)
  }

  @Test("Attempts with a paused tag, including queued attempts, wait and run in order once the tag is resumed")
  func holding() {
    var bench = SchedulerBench(ConcurrencyLimits(global: 1))
    bench.enter("0") { $0.tags = ["images"] }
    for number in 1...3 {
      bench.enter("image \(number)") { $0.tags = ["images"] }
      bench.enter("text \(number)") { $0.tags = ["texts"] }
    }
    bench.change { $0.pause("images") }
    #expect(bench.state.isPaused("images"))
    #expect(!bench.state.isPaused("texts"))
    bench.enter("image 4") { $0.tags = ["big", "images"] }
    #expect(bench.causes["image 4"] == .held)
    bench.leave("0", "text 1", "text 2", "text 3")
    #expect(bench.started == ["0", "text 1", "text 2", "text 3"])
    #expect(bench.state.running == 0)
    bench.change { $0.resume("images") }
    bench.leave("image 1", "image 2", "image 3", "image 4")
    #expect(bench.started.suffix(4) == ["image 1", "image 2", "image 3", "image 4"])
    #expect(bench.state.isIdle)
    #expect(bench.state.trackedTagCount == 0)
  }

  @Test("A held attempt keeps its position, however often its tag is paused and resumed")
  func holdingAgain() {
    var bench = SchedulerBench(ConcurrencyLimits(global: 1))
    bench.enter("0")
    for round in 0..<5 {
      bench.enter("image \(round)") { $0.tags = ["images"] }
      bench.enter("text \(round)")
      bench.change { round.isMultiple(of: 2) ? $0.pause("images") : $0.resume("images") }
    }
    bench.change { $0.resume("images") }
    for _ in 0...10 { if let last = bench.started.last { bench.leave(last) } }
    #expect(bench.started == ["0"] + (0..<5).flatMap { ["image \($0)", "text \($0)"] })
    #expect(bench.state.isIdle)
  }

  @Test("resumeAll does not resume a paused tag")
  func everything() {
    var bench = SchedulerBench(ConcurrencyLimits(global: 3))
    bench.enter("0")
    bench.change { $0.pauseAll() }
    bench.change { $0.pause("images") }
    bench.enter("1")
    bench.enter("2") { $0.tags = ["images"] }
    bench.leave("0")
    #expect(bench.started == ["0"])
    #expect(bench.causes["1"] == .held)
    bench.change { $0.resumeAll() }
    #expect(bench.started == ["0", "1"])
    bench.leave("2", "1")
    #expect(bench.state.isIdle)
    bench.change { $0.resume("images") }
    #expect(bench.state.trackedTagCount == 0)
  }

  @Test("A paused attempt does not resume while its tag is paused")
  func pausedBefore() {
    var bench = SchedulerBench(ConcurrencyLimits(global: 1))
    bench.enter("0") { $0.tags = ["images"] }
    bench.pause("0")
    bench.change { $0.pause("images") }
    bench.resume("0")
    #expect(bench.causes["0"] == .held)
    #expect(bench.state.waiting == 1)
    bench.change { $0.resume("images") }
    #expect(bench.state.running == 1)
    bench.leave("0")
    #expect(bench.state.isIdle)
  }
}

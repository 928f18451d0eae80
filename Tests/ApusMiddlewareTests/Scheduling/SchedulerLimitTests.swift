import ApusCore
import Testing

@testable import ApusMiddleware

@Suite("Scheduler: limits that adapt to HTTP/2")
struct SchedulerLimitTests {
  /// Returns the number of attempts to one origin that run at a time after a response.
  private func running(_ limits: ConcurrencyLimits, after streams: [UInt32?]) -> Int {
    var bench = SchedulerBench(limits)
    bench.enter("first")
    for streams in streams { bench.adapt("first", streams: streams) }
    for number in 0..<150 { bench.enter("\(number)") }
    return bench.state.running
  }

  @Test(
    "A preset limit becomes the number of streams, at most 100, and the preset again over HTTP/1.1",
    arguments: [
      ([], 5), ([100], 100), ([8], 8), ([3], 3), ([0], 1), ([.max], 100), ([100, nil], 5), ([nil], 5), ([100, 7], 7),
    ] as [([UInt32?], Int)])
  func presets(streams: [UInt32?], limit: Int) {
    #expect(running(ConcurrencyLimits(global: .max), after: streams) == limit)
    #expect(running(.server, after: streams) == (limit == 5 ? 64 : limit))
    #expect(running(.app, after: streams) == min(limit, 64))
  }

  @Test("A limit that the app has set does not adapt")
  func ownLimits() {
    #expect(running(ConcurrencyLimits(global: .max, perOrigin: 5), after: [100]) == 5)
    #expect(running(ConcurrencyLimits.server.with { $0.perOrigin = 7 }, after: [100]) == 7)
    let origin = Origin(scheme: "https", host: "a", port: 443)
    #expect(running(ConcurrencyLimits.server.with { $0.origins[origin] = 9 }, after: [100]) == 9)
    let other = Origin(scheme: "https", host: "b", port: 443)
    #expect(running(ConcurrencyLimits.server.with { $0.origins[other] = 9 }, after: [80]) == 80)
  }

  @Test("Queued attempts start in order as soon as the limit grows, and only to that origin")
  func growth() {
    var bench = SchedulerBench(ConcurrencyLimits(global: .max))
    for host in ["a", "b"] { for number in 0..<8 { bench.enter("\(host)\(number)", at: host) } }
    #expect(bench.state.running == 10)
    bench.adapt("a0", streams: 7)
    #expect(bench.started.suffix(2) == ["a5", "a6"])
    #expect(bench.state.waiting == 4)
    bench.adapt("a0", streams: 100)
    #expect(bench.started.last == "a7")
    #expect(bench.state.waiting == 3)
  }

  @Test("No attempt starts after the limit shrinks until fewer attempts run than it permits")
  func shrinking() {
    var bench = SchedulerBench(ConcurrencyLimits(global: .max))
    bench.enter("0")
    bench.adapt("0", streams: 10)
    for number in 1..<12 { bench.enter("\(number)") }
    #expect(bench.state.running == 10)
    bench.adapt("0", streams: nil)
    for number in 0..<5 { bench.leave("\(number)") }
    #expect(bench.state.running == 5)
    #expect(bench.state.waiting == 2)
    bench.leave("5")
    #expect(bench.started.last == "10")
    #expect(bench.state.running == 5)
  }

  @Test("The limit of an origin without attempts is forgotten with its record, and the latest origin keeps its limit")
  func pruning() {
    var bench = SchedulerBench(ConcurrencyLimits(global: .max))
    bench.enter("first")
    bench.adapt("first", streams: 100)
    bench.leave("first")
    for number in 0..<6 { bench.enter("a\(number)") }
    #expect(bench.state.running == 6)
    for number in 0..<6 { bench.leave("a\(number)") }
    bench.enter("other", at: "b")
    bench.leave("other")
    #expect(bench.state.isIdle)
    for number in 0..<6 { bench.enter("a\(number)") }
    #expect(bench.state.running == 5)
  }

  @Test("An attempt that has ended does not adapt the limit")
  func ended() {
    var bench = SchedulerBench(ConcurrencyLimits(global: .max))
    bench.enter("first")
    bench.leave("first")
    for number in 0..<6 { bench.enter("\(number)") }
    bench.adapt("first", streams: 100)
    #expect(bench.state.running == 5)
  }
}

import ApusCore
import ApusTesting
import Testing

@Suite("Simulation: report")
struct SimulationReportTests {
  private static func event(_ milliseconds: Int, _ kind: SimulationEvent.Kind) -> SimulationEvent {
    SimulationEvent(time: .milliseconds(milliseconds), kind: kind)
  }

  private static func end(_ milliseconds: Int, began: Int, _ failure: CallError.Code? = nil) -> SimulationEvent {
    event(milliseconds, .callEnded(client: 1, call: 1, began: .milliseconds(began), failure: failure))
  }

  private static let sample = SimulationReport(
    seed: 1, duration: .milliseconds(2500),
    events: [
      event(0, .callStarted(client: 1, call: 1)), event(100, .arrived(host: "a", waiting: 0)), end(200, began: 0),
      event(300, .arrived(host: "a", waiting: 4)), event(310, .arrived(host: "b", waiting: 9)),
      end(999, began: 199), end(1000, began: 900), end(1100, began: 0, .timeout),
      event(1200, .arrived(host: "a", waiting: 2)), end(2500, began: 2000),
    ])

  private var report: SimulationReport { Self.sample }

  @Test("Rates in reports are per second, whatever the step")
  func rates() {
    #expect(report.goodput().values == [2, 1, 1])
    #expect(report.goodput(every: .milliseconds(500)).values == [2, 2, 2, 0, 2])
    #expect(report.failures().values == [0, 1, 0])
    #expect(report.load(on: "a").values == [2, 1, 0])
    #expect(report.queueLength(on: "a").values == [4, 2, 0])
    #expect(report.load(on: "c").values == [0, 0, 0])
    #expect(report.goodput(every: .zero).step == .seconds(1))
  }

  @Test("A report has the counts and latencies of the calls")
  func latencies() {
    #expect(report.successes == 4 && report.failures == 1)
    #expect(report.latencies() == [100, 200, 500, 800].map { Duration.milliseconds($0) })
    #expect(report.latency(quantile: 0.5) == .milliseconds(200))
    #expect(report.latency(quantile: 0.51) == .milliseconds(500))
    #expect(report.latency(quantile: 1) == .milliseconds(800))
    #expect(report.latency(quantile: 0) == .milliseconds(100))
    let first = Duration.zero..<Duration.seconds(1)
    #expect(report.latencies(in: first) == [.milliseconds(200), .milliseconds(800)])
    #expect(report.latency(quantile: 0.5, in: Duration.seconds(7)..<Duration.seconds(8)) == nil)
  }

  @Test("A series has a mean, a maximum and a recovery time")
  func series() {
    let series = SimulationSeries(step: .seconds(2), values: [9, 9, 1, 0, 8, 2, 8, 9, 10])
    #expect(series.mean(in: Duration.zero..<Duration.seconds(4)) == 9)
    #expect(series.mean(in: Duration.seconds(4)..<Duration.seconds(8)) == 0.5)
    #expect(series.mean(in: Duration.seconds(90)..<Duration.seconds(91)) == 0)
    #expect(series.maximum == 10)
    #expect(series.recoveryTime(to: 8, from: .seconds(4), steps: 1) == .seconds(8))
    #expect(series.recoveryTime(to: 8, from: .seconds(4), steps: 3) == .seconds(12))
    #expect(series.recoveryTime(to: 8, from: .seconds(4)) == nil)
  }

  @Test("Each event is a line of text")
  func lines() {
    let events = [
      Self.event(1500, .callStarted(client: 2, call: 7)), Self.end(1500, began: 0),
      Self.end(1500, began: 0, .offline), Self.event(1500, .sent(host: "a", attempt: 2)),
      Self.event(1500, .lost(host: "a")), Self.event(1500, .down(host: "a")),
      Self.event(1500, .arrived(host: "a", waiting: 3)), Self.event(1500, .responded(host: "a", status: 503)),
      Self.event(1500, .note("half is back")),
    ]
    let texts = [
      "client 2: call 7 starts", "client 1: call 1 succeeds", "client 1: call 1 fails: offline",
      "a: attempt 2 sent", "a: lost", "a: down", "a: request arrived, 3 queued", "a: responds 503", "half is back",
    ]
    #expect(events.map(\.description) == texts.map { "1.5 seconds: \($0)" })
  }
}

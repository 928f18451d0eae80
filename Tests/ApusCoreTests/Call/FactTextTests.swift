import Testing

@testable import ApusCore

@Suite("Facts as text")
struct FactTextTests {
  private static let texts: [(fact: Fact, text: String)] = [
    (.totalLimit(.seconds(30)), "30 s in total"), (.totalLimit(nil), "no total limit"),
    (.attemptLimit(.milliseconds(2500)), "2.5 s per attempt"), (.attemptLimit(nil), "no limit per attempt"),
    (.attempts(1), "1 attempt"), (.attempts(3), "3 attempts"),
    (.backoff(first: .milliseconds(200), maximum: .seconds(20)), "backoff 200 ms, doubling up to 20 s"),
    (.serverDelay(upTo: .seconds(60), isClamped: false), "Retry-After up to 60 s"),
    (.serverDelay(upTo: .seconds(5), isClamped: true), "Retry-After cut to 5 s"),
    (.budget(capacity: 500, cost: 14), "retry budget 500 at 14 per retry"),
    (.budget(capacity: 500, cost: 0), "no retry budget"),
    (.permits(perOrigin: 5, total: 64), "5 concurrent calls per origin, 64 in total"),
    (.permits(perOrigin: 64, total: .max), "64 concurrent calls per origin"),
    (.permits(perOrigin: .max, total: 64), "64 concurrent calls"),
    (.permits(perOrigin: .max, total: .max), "unlimited concurrent calls"),
    (.rate(interval: .milliseconds(100), burst: 10), "1 request per 100 ms, burst 10"),
    (
      .failureRatio(0.5, minimum: 10, window: .seconds(30)),
      "opens at a failure ratio of 0.5 of at least 10 exchanges in 30 s"
    ),
    (.consecutiveFailures(1), "opens after 1 consecutive failure"),
    (.consecutiveFailures(5), "opens after 5 consecutive failures"),
    (.connections(perOrigin: 16, total: 256), "16 connections per origin, 256 in total"),
    (.connections(perOrigin: .max, total: .max), "unlimited connections"),
    (.time("idle limit", .seconds(60)), "idle limit 60 s"), (.time("idle limit", nil), "idle limit none"),
    (.setting("queue", "7"), "queue 7"), (.setting("none", ""), "none"),
    (.setting("of two\nlines", "each\r\nas\u{2028}one"), "of two lines each as one"),
  ]

  @Test("Each fact has a short text on one line", arguments: texts.indices)
  func text(index: Int) {
    let (fact, text) = Self.texts[index]
    #expect(fact.description == text)
  }

  private static let times: [(time: Duration, text: String)] = [
    (.zero, "0 s"), (.nanoseconds(1), "1 ns"), (.nanoseconds(999), "999 ns"), (.nanoseconds(1500), "1.5 µs"),
    (.microseconds(20), "20 µs"), (.milliseconds(200), "200 ms"), (.microseconds(1005), "1.005 ms"),
    (.seconds(1), "1 s"), (.milliseconds(1050), "1.05 s"), (.seconds(600), "600 s"), (.seconds(-1), "less than 0 s"),
    (.seconds(Int64.max), "endless"), (.seconds(Int64.min), "less than 0 s"),
    (Duration(secondsComponent: 0, attosecondsComponent: 1), "0 s"),
  ]

  @Test("The text of a duration has a unit from nanoseconds to seconds, or is endless", arguments: times.indices)
  func time(index: Int) {
    let (time, text) = Self.times[index]
    #expect(time.plainText == text)
  }
}

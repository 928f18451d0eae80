import HTTPTypes
import Testing

@testable import ApusCore

/// Times that a server or an app may send and no clock can represent.
@Suite("Hostile times")
struct HostileTimesTests {
  private static let century = Duration.seconds(100 * 366 * 24 * 60 * 60)

  @Test(
    "Any number of seconds becomes a duration of at most a hundred years",
    arguments: [
      (1e30, century), (-1e30, .zero - century), (.nan, .zero), (-.nan, .zero), (.infinity, century),
      (-.infinity, .zero - century), (.greatestFiniteMagnitude, century), (Double(Int64.max), century),
      (Double(Int64.min), .zero - century), (.signalingNaN, .zero), (0, .zero), (-0.0, .zero),
      (1.5, .milliseconds(1500)),
      (-3600, .seconds(-3600)), (.leastNonzeroMagnitude, .zero),
    ] as [(Double, Duration)])
  func clamping(seconds: Double, duration: Duration) {
    #expect(Duration(clampingSeconds: seconds) == duration)
    _ = Duration(clampingSeconds: seconds).components
  }

  @Test(
    "Parsing Retry-After never traps, and the delay is at most 2³¹ seconds",
    arguments: [
      ("9223372036854775807", .seconds(1 << 31 as Int64)), ("9223372036854775808", .seconds(1 << 31 as Int64)),
      ("1e999", nil),
      ("1e30", nil), ("nan", nil), ("inf", nil), ("-1", nil),
      (String(repeating: "9", count: 5000), .seconds(1 << 31 as Int64)),
      ("Fri, 31 Dec 9999 23:59:60 GMT", .seconds(1 << 31 as Int64)), ("Mon, 01 Jan 0000 00:00:00 GMT", .zero),
    ] as [(String, Duration?)])
  func retryAfter(text: String, delay: Duration?) {
    let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    #expect(RetryAfter.delay(in: [.retryAfter: text, .date: date]) == delay)
    let name = HTTPField.Name("retry-after-ms")
    if let name { _ = RetryAfter.delay(in: [name: text, .retryAfter: text]) }
  }

  @Test(
    "An instant stays within the range of a clock",
    arguments: [Duration.seconds(Int64.max), .seconds(Int64.min), .seconds(1e20), .seconds(-1e20), .zero])
  func instants(duration: Duration) {
    var instant = MonotonicInstant(sinceStart: .seconds(5))
    for _ in 0..<100 { instant = instant.advanced(by: duration) }
    let back = MonotonicInstant(sinceStart: .zero).advanced(by: .zero - duration)
    #expect((duration > .zero) == (instant > MonotonicInstant(sinceStart: .seconds(5))))
    // `components` traps for more seconds than 64 bits hold.
    _ = instant.duration(to: back).components
    _ = back.duration(to: instant).components
    #expect(!Trace.milliseconds(back.duration(to: instant)).isEmpty)
  }

  @Test("A deadline beyond the range of a clock is centuries away")
  func deadline() async throws {
    for limit in [Duration.seconds(Int64.max), .seconds(1e20)] {
      let remaining = await withDeadline(limit) { Deadline.current?.remaining }
      #expect(remaining.map { $0 > Self.century } == true)
    }
  }
}

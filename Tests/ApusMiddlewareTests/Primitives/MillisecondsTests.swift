import Testing

@testable import ApusMiddleware

@Suite("Milliseconds of traces")
struct MillisecondsTests {
  @Test("Converting a duration out of range to milliseconds does not trap", arguments: [1e20, -1e20])
  func huge(seconds: Double) {
    let milliseconds = Duration.seconds(seconds).milliseconds
    #expect((milliseconds > 0) == (seconds > 0))
    #expect(Duration.milliseconds(-1500).milliseconds == -1500)
  }
}

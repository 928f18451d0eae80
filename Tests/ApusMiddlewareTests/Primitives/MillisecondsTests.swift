import Testing

@testable import ApusMiddleware

@Suite("Milliseconds of traces")
struct MillisecondsTests {
  @Test("A duration out of range does not trap", arguments: [1e20, -1e20])
  func huge(seconds: Double) {
    let milliseconds = Duration.seconds(seconds).milliseconds
    #expect((milliseconds > 0) == (seconds > 0))
    #expect(Duration.milliseconds(-1500).milliseconds == -1500)
  }
}

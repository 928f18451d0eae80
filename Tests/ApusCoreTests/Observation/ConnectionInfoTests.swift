import Testing

@testable import ApusCore

@Suite("Connections in traces")
struct ConnectionInfoTests {
  @Test(
    "The age of a connection is kept to about a millisecond and never negative",
    arguments: [
      (Duration.zero, 0), (.milliseconds(1), 0), (.milliseconds(999), 999), (.seconds(3600), 3_600_000),
      (.seconds(-1), 0),
    ] as [(Duration, Int)])
  func age(age: Duration, milliseconds: Int) {
    var info = ConnectionInfo()
    info.age = age
    let difference = info.age - .milliseconds(milliseconds)
    #expect(difference <= .milliseconds(2) && difference >= .milliseconds(-2))
  }

  @Test("The age of a connection is at most 55 days")
  func longAge() {
    var info = ConnectionInfo()
    info.age = .seconds(1 << 40)
    #expect(info.age > .seconds(55 * 86400) && info.age < .seconds(56 * 86400))
  }

  @Test("The information about a connection does not make trace events larger")
  func size() {
    #expect(MemoryLayout<TraceEvent>.size <= 64)
  }
}

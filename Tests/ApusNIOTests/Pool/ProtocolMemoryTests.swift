import ApusCore
import Testing

@testable import ApusNIO

@Suite("Protocol memory")
struct ProtocolMemoryTests {
  private func at(_ seconds: Int) -> MonotonicInstant { MonotonicInstant(sinceStart: .seconds(seconds)) }

  @Test("The last recorded capacity of an origin counts")
  func last() {
    var memory = ProtocolMemory<String>()
    #expect(memory.capacity(of: "a") == nil)
    memory.record(100, of: "a")
    memory.record(1, of: "b")
    memory.record(128, of: "a")
    #expect(memory.capacity(of: "a") == 128)
    #expect(memory.capacity(of: "b") == 1)
  }

  @Test("Beyond the maximum number of origins, the least recently used origin is removed")
  func limit() {
    var memory = ProtocolMemory<Int>(limit: 3)
    for origin in 0..<3 { memory.record(100, of: origin) }
    // A query is a use.
    #expect(memory.capacity(of: 0) == 100)
    memory.record(100, of: 3)
    #expect(memory.count == 3)
    #expect(memory.capacity(of: 1) == nil)
    for origin in [0, 2, 3] { #expect(memory.capacity(of: origin) == 100) }
    memory.restrictToHTTP1(4, until: at(1))
    #expect(memory.capacity(of: 0) == nil)
  }

  @Test("The default maximum is 1,000 origins")
  func defaultLimit() {
    var memory = ProtocolMemory<Int>()
    for origin in 0..<1001 { memory.record(1, of: origin) }
    #expect(memory.count == 1000)
    #expect(memory.capacity(of: 0) == nil && memory.capacity(of: 1) == 1)
  }

  @Test("A restriction to HTTP/1.1 ends at its instant, and an earlier end does not shorten it")
  func restriction() {
    var memory = ProtocolMemory<String>()
    #expect(memory.allowsMultiplexing("a", now: at(0)))
    memory.record(100, of: "a")
    memory.restrictToHTTP1("a", until: at(10))
    memory.restrictToHTTP1("a", until: at(5))
    #expect(!memory.allowsMultiplexing("a", now: at(9)))
    #expect(memory.allowsMultiplexing("b", now: at(9)))
    #expect(memory.allowsMultiplexing("a", now: at(10)))
    #expect(memory.capacity(of: "a") == 100)
  }
}

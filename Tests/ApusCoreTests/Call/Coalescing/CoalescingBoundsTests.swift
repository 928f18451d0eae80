import ApusCore
import ApusTesting
import HTTPTypes
import Testing

@Suite("Coalesced calls: limits of sharing")
struct CoalescingBoundsTests {
  private let gate = Gate()

  /// Returns a client that shares responses of up to four bytes. The client receives the response `first` first, and
  /// later responses when the gate of the returned bench opens.
  private func bench(_ first: StubReply) -> CoalescingBench {
    let bench = CoalescingBench(limits: CoalescingLimits { $0.sharedBytes = 4 })
    bench.stub.on(.get, "/user", replies: [first, .text("own").waiting(for: bench.gate)])
    return bench
  }

  @Test("No further call joins a response over the size limit, but calls that already wait receive the whole response")
  func tooLarge() async throws {
    let bench = bench(.pieces(["abcd", "ef", "g"], gate: gate))
    var early = [bench.start(.shared)]
    for count in 1...2 {
      try await gate.waitForArrivals(count)
      early.append(bench.start(.shared))
      try await bench.waitForJoined(count)
      gate.release()
    }
    try await gate.waitForArrivals(3)
    // Six bytes have arrived.
    var late = [bench.start(.shared)]
    try await bench.gate.waitForArrivals(1)
    late.append(bench.start(.shared))
    try await bench.waitForJoined(3)
    gate.open()
    bench.gate.open()
    for call in early { #expect(try await call.value.get() == "abcdefg") }
    for call in late { #expect(try await call.value.get() == "own") }
    #expect(bench.stub.exchanges.count == 2)
    #expect(bench.log.events.count { $0.hasPrefix("could not join call") } == 1)
  }

  @Test("No call joins a response whose Content-Length is over the limit")
  func announced() async throws {
    let bench = bench(.pieces(["abcd", "e"], gate: gate, fields: [.contentLength: "5"]))
    let first = bench.start(.shared)
    try await gate.waitForArrivals(1)
    bench.gate.open()
    #expect(try await bench.api.send(Request<String>.shared) == "own")
    gate.open()
    #expect(try await first.value.get() == "abcde")
  }

  @Test("A call joins a no-store response only before its head arrives, unless both calls have the same id")
  func noStore() async throws {
    let head = Gate()
    let bench = bench(.pieces(["ab"], gate: gate, fields: [.cacheControl: "private, No-Store"]).waiting(for: head))
    let first = bench.start(.shared)
    try await head.waitForArrivals(1)
    let early = bench.start(.shared)
    try await bench.waitForJoined(1)
    head.open()
    try await gate.waitForArrivals(1)
    bench.gate.open()
    #expect(try await bench.api.send(Request<String>.shared) == "own")
    gate.open()
    for call in [first, early] { #expect(try await call.value.get() == "ab") }
    #expect(bench.stub.exchanges.count == 2)
  }

  @Test("Calls with the same id join a response at any time")
  func named() async throws {
    let bench = bench(.pieces(["abcdef", "g"], gate: gate, fields: [.cacheControl: "no-store"]))
    let request = Request<String>.shared.id("one", onDuplicate: .coalesce)
    let first = bench.start(request)
    try await gate.waitForArrivals(1)
    gate.release()
    try await gate.waitForArrivals(2)
    let second = bench.start(request)
    try await bench.waitForJoined(1)
    // A call without the id does not join the exchange.
    let other = bench.start(.shared)
    try await bench.gate.waitForArrivals(1)
    gate.open()
    bench.gate.open()
    for call in [first, second] { #expect(try await call.value.get() == "abcdefg") }
    #expect(try await other.value.get() == "own")
    #expect(bench.stub.exchanges.count == 2)
  }

  @Test("Beyond the limit on shared exchanges, a call has its own exchange and records this in its trace")
  func manyExchanges() async throws {
    let bench = CoalescingBench(limits: CoalescingLimits { $0.exchanges = 2 })
    let paths: [RequestPath] = ["/1", "/2", "/3", "/3"]
    var calls: [Task<Result<String, CallError>, Never>] = []
    for (index, path) in paths.enumerated() {
      calls.append(bench.start(.get(path).coalesced()))
      try await bench.gate.waitForArrivals(index + 1)
    }
    calls.append(bench.start(.get("/1").coalesced()))
    try await bench.waitForJoined(1)
    bench.gate.open()
    for call in calls { #expect(try await call.value.get() == "ok") }
    #expect(bench.stub.exchanges.map(\.target) == ["/1", "/2", "/3", "/3"])
    #expect(bench.log.events.count { $0 == "not coalesced, exchanges in flight: 2" } == 2)
    // A shared exchange has ended, so there is room again.
    _ = try await bench.api.send(Request<String>.shared)
    #expect(bench.log.events.count { $0.hasPrefix("not coalesced") } == 2)
    #expect(bench.isClean)
  }

  @Test("Fields listed in `perCallFields` are ignored when requests are compared")
  func perCallFields() async throws {
    let bench = CoalescingBench(limits: CoalescingLimits { $0.perCallFields = ["x-tap"] })
    let calls = try await bench.share([.shared.field("X-Tap", "1"), .shared.field("X-Tap", "2")])
    let other = bench.start(.shared.field("traceparent", "00-1"))
    try await bench.gate.waitForArrivals(2)
    bench.gate.open()
    for call in calls + [other] { #expect(try await call.value.get() == "ok") }
    // The request sent is the leader's.
    let tap = try #require(HTTPField.Name("X-Tap"))
    #expect(bench.stub.exchanges.first?.fields[tap] == "1")
  }
}

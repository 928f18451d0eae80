import ApusCore
import ApusTesting
import HTTPTypes
import Testing

@Suite("Calls that are coalesced: what they do not join")
struct CoalescingBoundsTests {
  private let gate = Gate()

  /// A client that shares up to four bytes, whose first answer comes from a gate piece by piece, and the next when the
  /// bench's own opens.
  private func bench(_ first: StubAnswer) -> CoalescingBench {
    let bench = CoalescingBench(limits: CoalescingLimits { $0.sharedBytes = 4 })
    bench.stub.on(.get, "/user", answers: [first, .text("own").waiting(for: bench.gate)])
    return bench
  }

  @Test("an answer that has become large is not joined any more; those that wait for it get all of it")
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
    // Six bytes are there.
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

  @Test("neither is one that announces so much")
  func announced() async throws {
    let bench = bench(.pieces(["abcd", "e"], gate: gate, fields: [.contentLength: "5"]))
    let first = bench.start(.shared)
    try await gate.waitForArrivals(1)
    bench.gate.open()
    #expect(try await bench.api.send(Request<String>.shared) == "own")
    gate.open()
    #expect(try await first.value.get() == "abcde")
  }

  @Test("an answer that has begun and must not be stored is not joined, unless the id says so; before it begins it is")
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

  @Test("calls of one id join whatever there is of an answer")
  func named() async throws {
    let bench = bench(.pieces(["abcdef", "g"], gate: gate, fields: [.cacheControl: "no-store"]))
    let request = Request<String>.shared.id("one", whenRunning: .join)
    let first = bench.start(request)
    try await gate.waitForArrivals(1)
    gate.release()
    try await gate.waitForArrivals(2)
    let second = bench.start(request)
    try await bench.waitForJoined(1)
    // It goes by its id alone.
    let other = bench.start(.shared)
    try await bench.gate.waitForArrivals(1)
    gate.open()
    bench.gate.open()
    for call in [first, second] { #expect(try await call.value.get() == "abcdefg") }
    #expect(try await other.value.get() == "own")
    #expect(bench.stub.exchanges.count == 2)
  }

  @Test("so many exchanges are shared at a time; a call beyond goes alone, and says so")
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
    #expect(bench.log.events.count { $0 == "does not share, exchanges under way: 2" } == 2)
    // There is room again.
    _ = try await bench.api.send(Request<String>.shared)
    #expect(bench.log.events.count { $0.hasPrefix("does not share") } == 2)
    #expect(bench.isClean)
  }

  @Test("fields that tell calls apart and not answers are the client's to name")
  func perCallFields() async throws {
    let bench = CoalescingBench(limits: CoalescingLimits { $0.perCallFields = ["x-tap"] })
    let calls = try await bench.share([.shared.field("X-Tap", "1"), .shared.field("X-Tap", "2")])
    let other = bench.start(.shared.field("traceparent", "00-1"))
    try await bench.gate.waitForArrivals(2)
    bench.gate.open()
    for call in calls + [other] { #expect(try await call.value.get() == "ok") }
    // What is sent is what the first had.
    let tap = try #require(HTTPField.Name("X-Tap"))
    #expect(bench.stub.exchanges.first?.fields[tap] == "1")
  }
}

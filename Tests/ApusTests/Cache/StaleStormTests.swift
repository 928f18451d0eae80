import Apus
import ApusTesting
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import ApusCore
@testable import ApusMiddleware

@Suite("Storms of calls for a stale response")
struct StaleStormTests {
  /// A failure of an origin, and the response that permits stale use.
  struct Outage: Sendable, CustomTestStringConvertible {
    let name: String
    let control: String
    var fields: FieldLines = ["ETag": "\"1\""]
    let reply: StubReply
    /// The result while the origin is down.
    let decision: String

    var testDescription: String { name }
  }

  private static let lost = StubReply.failure(TransportError(.connectionFailed, requestState: .notSent))
  private static let inPlace = "detail=stale-if-error"

  private static let outages = [
    Outage(
      name: "503", control: "max-age=10, stale-if-error=600", reply: .status(503), decision: inPlace),
    Outage(name: "no connection", control: "max-age=10, stale-if-error=600", reply: lost, decision: inPlace),
    Outage(
      name: "503, without a validator", control: "max-age=10, stale-if-error=600", fields: [:], reply: .status(503),
      decision: inPlace),
    Outage(
      name: "no connection, revalidated in the background", control: "max-age=10, stale-while-revalidate=600",
      reply: lost, decision: "hit"),
    Outage(
      name: "500, revalidated in the background", control: "max-age=10, stale-while-revalidate=600",
      reply: .status(500), decision: "hit"),
  ]

  @Test("Calls for a stale response share one request, also without a validator", arguments: [true, false])
  func shared(hasValidator: Bool) async throws {
    let (world, gate) = (CachedClient(), Gate())
    let control: FieldLines = ["Cache-Control": "max-age=10, stale-if-error=600"]
    var fields = control
    if hasValidator { fields["ETag"] = "\"1\"" }
    world.stub.on(
      .get, "/v1/friends", replies: [.text("Ann", fields: fields), .status(503).waiting(for: gate)])
    let friends = Request<String>.get("/friends")
    _ = try await world.get(friends)
    world.clock.advance(by: .seconds(15))
    try await withThrowingTaskGroup { group in
      for _ in 0..<20 { group.addTask { try await world.get(friends).text } }
      try await waitWhile(world.api.calls.all.count < 20)
      for _ in 0..<1000 { await Task.yield() }
      gate.open()
      for try await text in group { #expect(text == "Ann") }
    }
    #expect(world.stub.exchanges.count == 2)
  }

  /// 1,000 with 1,000 rounds of fuzz tests.
  private var callsPerSecond: Int { min(1000, fuzzRounds(usually: 40)) }

  @Test("An origin that is down for a minute gets at most one request a second for a response", arguments: outages)
  func minute(outage: Outage) async throws {
    let origin = StormOrigin(outage)
    #expect(try await origin.call().text == "Ann")
    origin.clock.advance(by: .seconds(15))
    origin.isDown = true
    for second in 0..<60 {
      let results = try await origin.calls(callsPerSecond)
      #expect(results.texts == ["Ann"] && results.areStale, "second \(second)")
      #expect(results.decisions.allSatisfy { $0.contains(outage.decision) }, "second \(second): \(results.decisions)")
    }
    let arrivals = origin.arrivals.dropFirst()
    #expect((30...61).contains(arrivals.count))
    for (earlier, later) in zip(arrivals, arrivals.dropFirst()) {
      #expect(earlier.duration(to: later) >= .seconds(1))
    }

    // The origin comes back: one request, and a fresh response for all.
    try await origin.waitForRevalidation()
    origin.isDown = false
    origin.clock.advance(by: .seconds(1))
    let before = origin.arrivals.count
    _ = try await origin.call()
    try await origin.waitForRevalidation()
    for _ in 0..<3 {
      let results = try await origin.calls(callsPerSecond)
      #expect(results.texts == ["Bob"] && results.decisions.allSatisfy { $0.hasPrefix("Apus; hit; ttl=") })
    }
    #expect(origin.arrivals.count == before + 1)
  }
}

/// An origin with one response, and a client with a cache.
private final class StormOrigin: Sendable {
  private struct State {
    var isDown = false
    var isFirst = true
    var arrivals: [MonotonicInstant] = []
  }

  struct Results {
    var texts: Set<String> = []
    var decisions: Set<String> = []
    var areStale = true
  }

  // Without a circuit breaker, which would let fewer requests pass.
  private let world = CachedClient { $0.breaker = nil }
  private let state = Mutex(State())

  init(_ outage: StaleStormTests.Outage) {
    let (clock, outage) = (world.clock, outage)
    world.stub.on(
      where: { _, _ in true },
      reply: { [weak self] _ in
        let (isDown, isFirst) = self?.arrive(at: clock.now) ?? (true, false)
        if isDown { return outage.reply }
        guard isFirst else { return .fresh("Bob", seconds: 600) }
        var fields = outage.fields
        fields["Cache-Control"] = outage.control
        return .text("Ann", fields: fields)
      })
  }

  var clock: ManualClock { world.clock }
  /// The instants at which requests arrived.
  var arrivals: [MonotonicInstant] { state.withLock(\.arrivals) }
  var isDown: Bool {
    get { state.withLock(\.isDown) }
    set { state.withLock { $0.isDown = newValue } }
  }

  private func arrive(at now: MonotonicInstant) -> (isDown: Bool, isFirst: Bool) {
    state.withLock { state in
      defer { state.isFirst = false }
      state.arrivals.append(now)
      return (state.isDown, state.isFirst)
    }
  }

  func call() async throws -> (text: String, decision: String, isStale: Bool) {
    let response = try await world.api.response(to: Request<String>.get("/friends"))
    return (response.value, response.cacheStatus?.description ?? "", response.cacheStatus?.isStale == true)
  }

  /// Performs calls during a second: four times, many at once.
  func calls(_ count: Int) async throws -> Results {
    var results = Results()
    for _ in 0..<4 {
      clock.advance(by: .milliseconds(250))
      try await withThrowingTaskGroup { group in
        for _ in 0..<(count / 4) { group.addTask { try await self.call() } }
        for try await (text, decision, isStale) in group {
          results.texts.insert(text)
          results.decisions.insert(decision)
          results.areStale = results.areStale && isStale
        }
      }
    }
    return results
  }

  func waitForRevalidation() async throws {
    try await waitWhile(world.cache.revalidations.withLock { $0.runningCount } > 0)
  }
}

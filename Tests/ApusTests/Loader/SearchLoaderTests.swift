import Apus
import ApusTesting
import Testing

@MainActor @Suite("SearchLoader")
struct SearchLoaderTests {
  private let stub = StubTransport()
  private let clock = ManualClock(.manual)
  private let search: SearchLoader<String, String>

  init() {
    let api = Client(environment: Environment(baseURL: "https://x.test"), transport: stub)
    search = SearchLoader(debounce: .milliseconds(300), clock: clock) { text in
      try await api.send(Request<String>.get("/search", query: ["q": text]))
    }
  }

  /// Waits until the running load sleeps, then advances the clock past its delay.
  private func pass() async throws {
    try await clock.waitForSleepers(1)
    clock.advance(by: .milliseconds(300))
  }

  @Test("A SearchLoader sends only the last text, after the delay")
  func debounce() async throws {
    stub.onAny(reply: .text("found"))
    let loads = ["w", "wa", "war"].map { search.load($0) }
    await loads[0].value
    await loads[1].value
    try await clock.waitForSleepers(1)
    clock.advance(by: .milliseconds(299))
    #expect(search.isLoading && stub.exchanges.isEmpty)
    clock.advance(by: .milliseconds(1))
    await loads[2].value
    #expect(search.value == "found" && !search.isLoading)
    #expect(stub.exchanges.map(\.target) == ["/search?q=war"])
  }

  @Test("A newer query cancels the call of the older query, whose result is never shown")
  func latestWins() async throws {
    let gate = Gate()
    stub.on(.get, "/search", replies: [.stalled, StubReply.text("new").waiting(for: gate)])
    let older = search.load("old")
    try await pass()
    try await stub.waitForExchanges(1)
    let newer = search.load("new")
    await older.value
    #expect(search.isLoading && search.value == nil && search.error == nil)
    try await pass()
    try await gate.waitForArrivals(1)
    gate.open()
    await newer.value
    #expect(search.value == "new" && !search.isLoading)
    #expect(stub.exchanges.map(\.outcome) == [.cancelled, .replied])
  }

  @Test("After an error a SearchLoader has the last results until the next query succeeds")
  func errors() async throws {
    stub.on(.get, "/search", replies: [.text("a"), .status(503), .text("c")])
    for (query, value, status) in [("a", "a", nil), ("b", "a", 503), ("c", "c", nil)] as [(String, String, Int?)] {
      let load = search.load(query)
      #expect(search.isLoading && search.error == nil)
      try await pass()
      await load.value
      #expect(search.value == value && search.error?.status == status && !search.isLoading)
    }
  }

  @Test("Cancelling a query restores the previous results, and sends nothing during the delay")
  func cancel() async throws {
    stub.onAny(reply: .text("a"))
    let first = search.load("a")
    try await pass()
    await first.value
    let second = search.load("b")
    try await clock.waitForSleepers(1)
    search.cancel()
    #expect(search.value == "a" && !search.isLoading)
    await second.value
    #expect(stub.exchanges.count == 1)
  }

  @Test("SearchLoader.load() without a query repeats the last query, until a reset discards it")
  func repeated() async throws {
    stub.on(where: { _, _ in true }, reply: { .text($0.target) })
    await search.load()
    #expect(search.value == nil && !search.isLoading)
    let first = search.load("a")
    try await pass()
    await first.value
    let again = Task { await search.load() }
    try await pass()
    await again.value
    #expect(search.value == "/search?q=a" && stub.exchanges.count == 2)
    search.reset()
    await search.load()
    #expect(search.value == nil && !search.isLoading && stub.exchanges.count == 2)
  }
}

import Apus
import ApusTesting
import Testing

@MainActor @Suite("Loader")
struct LoaderTests {
  private let stub = StubTransport()
  private let api: Client

  init() {
    api = Client(environment: Environment(baseURL: "https://x.test"), transport: stub)
  }

  private func makeLoader() -> Loader<String> { Loader(api, Request<String>.get("/")) }

  @Test("A loader is idle, loading, loaded, refreshing, failed with the last value, and loaded again")
  func phases() async throws {
    let gate = Gate()
    stub.on(
      .get, "/",
      replies: [
        StubReply.text("a").waiting(for: gate), StubReply.text("b").waiting(for: gate),
        StubReply.status(503).waiting(for: gate), StubReply.text("c").waiting(for: gate),
      ])
    let loader = makeLoader()
    #expect(loader.value == nil && loader.error == nil && !loader.isLoading)
    let rows: [(value: String, failure: CallError.Code?)] = [("a", nil), ("b", nil), ("b", .rejected), ("c", nil)]
    for (index, row) in rows.enumerated() {
      let before = loader.value
      let load = loader.reload()
      #expect(loader.isLoading)
      #expect(loader.value == before && loader.error == nil)
      try await gate.waitForArrivals(index + 1)
      gate.release()
      await load.value
      #expect(!loader.isLoading)
      #expect(loader.value == row.value)
      #expect(loader.error?.code == row.failure)
    }
  }

  @Test("A newer load cancels the running load, and the end of the cancelled load does not stop the spinner")
  func latestWins() async throws {
    let (slow, fast) = (Gate(), Gate())
    stub.on(.get, "/", replies: [StubReply.text("old").waiting(for: slow), StubReply.text("new").waiting(for: fast)])
    let loader = makeLoader()
    let first = loader.reload()
    try await slow.waitForArrivals(1)
    let second = loader.reload()
    await first.value
    #expect(loader.isLoading && loader.value == nil && loader.error == nil)
    try await fast.waitForArrivals(1)
    fast.open()
    await second.value
    #expect(loader.value == "new" && !loader.isLoading)
    #expect(stub.exchanges.map(\.outcome) == [.cancelled, .replied])
  }

  @Test("The result of a load that ignores its cancellation is discarded once a newer load has started")
  func ignoring() async throws {
    let gates = [Gate(), Gate()]
    let screen = LoadingScreen()
    let loader = Loader<String> { () async throws(CallError) -> String in
      let number = screen.count
      screen.count += 1
      // The gate is awaited in an unstructured task, which is not cancelled.
      _ = await Task { try? await gates[number].wait() }.value
      return "\(number)"
    }
    let first = loader.reload()
    try await gates[0].waitForArrivals(1)
    let second = loader.reload()
    try await gates[1].waitForArrivals(1)
    gates[0].open()
    await first.value
    #expect(loader.value == nil && loader.isLoading)
    gates[1].open()
    await second.value
    #expect(loader.value == "1")
  }

  @Test("Cancelling a loader restores the previous phase immediately and ends the exchange")
  func cancel() async throws {
    stub.on(.get, "/", replies: [.text("a"), .stalled])
    let loader = makeLoader()
    loader.cancel()
    await loader.load()
    let load = loader.reload()
    try await stub.waitForExchanges(2)
    loader.cancel()
    #expect(loader.value == "a" && !loader.isLoading && loader.error == nil)
    await load.value
    #expect(loader.value == "a" && api.calls.isEmpty)
  }

  @Test("A load that an observer starts while another load begins is cancelled")
  func reloadedWhileBeginning() async throws {
    stub.onAny(reply: .text("a"))
    let (loader, screen) = (makeLoader(), LoadingScreen())
    onNextChange(of: loader) { screen.load = loader.reload() }
    let outer = loader.reload()
    let inner = try #require(screen.load)
    #expect(inner.isCancelled && !outer.isCancelled)
    await inner.value
    await outer.value
    #expect(loader.value == "a" && !loader.isLoading)
    #expect(stub.exchanges.count == 1)
  }

  @Test("A load that an observer starts during a cancel or reset is cancelled", arguments: [false, true])
  func reloadedWhileStopping(isReset: Bool) async throws {
    stub.onAny(reply: .stalled)
    let (loader, screen) = (makeLoader(), LoadingScreen())
    let outer = loader.reload()
    try await stub.waitForExchanges(1)
    onNextChange(of: loader) { screen.load = loader.reload() }
    if isReset { loader.reset() } else { loader.cancel() }
    let inner = try #require(screen.load)
    #expect(outer.isCancelled && inner.isCancelled && !loader.isLoading)
    await outer.value
    await inner.value
    #expect(api.calls.isEmpty && stub.exchanges.map(\.outcome) == [.cancelled])
  }

  @Test("A task that is already cancelled starts no load and does not affect the running load")
  func cancelledBefore() async throws {
    let gate = Gate()
    stub.onAny(reply: .text("a").waiting(for: gate))
    let loader = makeLoader()
    let load = loader.reload()
    try await gate.waitForArrivals(1)
    let late = Task { await loader.load() }
    late.cancel()
    await late.value
    #expect(loader.isLoading && !load.isCancelled)
    gate.open()
    await load.value
    #expect(loader.value == "a" && stub.exchanges.count == 1)
  }

  @Test("A load whose calls are cancelled elsewhere, or whose view disappears, causes no error in the loader")
  func cancelledElsewhere() async throws {
    stub.onAny(reply: .stalled)
    let loader = makeLoader()
    let first = loader.reload()
    try await stub.waitForExchanges(1)
    api.calls.cancelAll()
    await first.value
    #expect(!loader.isLoading && loader.error == nil)
    let view = Task { await loader.load() }
    try await stub.waitForExchanges(2)
    view.cancel()
    await view.value
    #expect(!loader.isLoading && loader.error == nil && api.calls.isEmpty)
  }

  @Test("Resetting a loader discards its value")
  func reset() async throws {
    stub.on(.get, "/", replies: [.text("a"), .stalled])
    let loader = makeLoader()
    await loader.load()
    let load = loader.reload()
    try await stub.waitForExchanges(2)
    loader.reset()
    await load.value
    #expect(loader.value == nil && !loader.isLoading)
  }

  @Test("Observers of a loader's phase are notified on the main actor of each change, and only of changes")
  func observing() async throws {
    stub.on(.get, "/", replies: [.text("a"), .status(500), .stalled])
    let loader = makeLoader()
    let watcher = LoaderWatcher(loader)
    await loader.load()
    #expect(watcher.changes == 2)
    await loader.load()
    #expect(watcher.changes == 4)
    let load = loader.reload()
    try await stub.waitForExchanges(3)
    loader.cancel()
    #expect(watcher.changes == 6)
    await load.value
    loader.cancel()
    #expect(watcher.changes == 6)
  }

  @Test("A loader that is released cancels its load")
  func forgotten() async throws {
    stub.onAny(reply: .stalled)
    var loader: Loader<String>? = makeLoader()
    let forgotten = ForgottenLoader(loader: loader)
    let load = loader?.reload()
    try await stub.waitForExchanges(1)
    loader = nil
    await load?.value
    let isGone = forgotten.loader == nil
    #expect(isGone)
    #expect(stub.exchanges.map(\.outcome) == [.cancelled])
  }

  @Test("Any error of a loader's work becomes a CallError with that cause")
  func anyError() async throws {
    struct Odd: Error {}
    let screen = LoadingScreen()
    let loader = Loader<Int> {
      screen.count += 1
      if screen.count == 1 { throw Odd() }
      if screen.count == 2 { throw CallError(.offline) }
      if screen.count == 3 { throw CancellationError() }
      return screen.count
    }
    await loader.load()
    #expect(loader.error?.code == .handler && loader.error?.underlying is Odd)
    await loader.load()
    #expect(loader.error?.code == .offline)
    await loader.load()
    #expect(loader.error?.code == .offline && !loader.isLoading)
    await loader.load()
    #expect(loader.value == 4 && loader.error == nil)
  }

  @Test("A loader has its initial value before the first load and after a failed first load")
  func initial() async throws {
    stub.on(.get, "/", replies: [.status(503), .text("new")])
    let loader = Loader(api, Request<String>.get("/"), initial: "old")
    #expect(loader.value == "old" && !loader.isLoading)
    await loader.load()
    #expect(loader.value == "old" && loader.error?.status == 503)
    await loader.load()
    #expect(loader.value == "new")
  }

  @Test("With a debounce a load starts after a delay, during which a newer load supersedes it")
  func debounce() async throws {
    let (clock, screen) = (ManualClock(.manual), LoadingScreen())
    let loader = Loader<Int>(debounce: .milliseconds(300), clock: clock) {
      screen.count += 1
      return screen.count
    }
    let first = loader.reload()
    try await clock.waitForSleepers(1)
    clock.advance(by: .milliseconds(299))
    #expect(screen.count == 0 && loader.isLoading)
    let second = loader.reload()
    await first.value
    try await clock.waitForSleepers(1)
    clock.advance(by: .milliseconds(299))
    #expect(screen.count == 0 && loader.isLoading)
    clock.advance(by: .milliseconds(1))
    await second.value
    #expect(screen.count == 1 && loader.value == 1 && !loader.isLoading)
    let third = loader.reload()
    try await clock.waitForSleepers(1)
    loader.cancel()
    await third.value
    #expect(screen.count == 1 && loader.value == 1 && !loader.isLoading)
  }

  @Test("A loader for a preview has the given phase and performs no load")
  func preview() async throws {
    let loader = Loader<String>(showing: .refreshing("a"))
    #expect(loader.isLoading && loader.value == "a")
    await loader.load()
    await loader.reload().value
    #expect(loader.isLoading && loader.value == "a")
    let watcher = LoaderWatcher(loader)
    loader.show(.failed(CallError(.offline), last: "a"))
    #expect(!loader.isLoading && loader.error?.message == CallError(.offline).message && watcher.changes == 1)
    loader.show(.idle)
    #expect(loader.value == nil && loader.error == nil)
  }

  @Test("show(_:) cancels the running load and sets a phase from which the next load continues")
  func shown() async throws {
    stub.on(.get, "/", replies: [.stalled, .text("a")])
    let loader = makeLoader()
    let load = loader.reload()
    try await stub.waitForExchanges(1)
    loader.show(.loading)
    await load.value
    #expect(loader.isLoading && api.calls.isEmpty)
    await loader.load()
    #expect(loader.value == "a" && !loader.isLoading)
  }

  @Test("A loader's work runs on the main actor and can read the screen's state")
  func work() async {
    stub.on(where: { _, _ in true }, reply: { .text($0.target) })
    let screen = LoadingScreen()
    let loader = Loader<String> { [api] () async throws(CallError) -> String in
      MainActor.assertIsolated()
      return try await api.send(Request<String>.get("/\(screen.text)"))
    }
    await loader.load()
    #expect(loader.value == "/a")
    screen.text = "b"
    await loader.load()
    #expect(loader.value == "/b")
  }
}

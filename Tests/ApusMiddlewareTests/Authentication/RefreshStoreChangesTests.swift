import ApusCore
import ApusMiddleware
import ApusTesting
import Synchronization
import TestSupport
import Testing

@Suite("Refresh: changes of the store during a refresh")
struct RefreshStoreChangesTests {
  private let ping = Request<String>.get("/ping")
  private let gate = Gate()

  /// Tokens that the server accepts after ``RefreshBench/expire()``.
  private let accepted = Credential.tokens(Tokens(access: "access-0"))

  /// A bench whose tokens belong to a named account and have expired.
  private func bench() -> RefreshBench {
    let bench = RefreshBench(gate: gate)
    bench.tokens.set(.tokens(Tokens(access: "access-1", refresh: "refresh-1")), account: "ada")
    bench.expire()
    return bench
  }

  @Test("Waiting calls continue with new credentials of the same account as soon as the app sets them")
  func setForAccount() async throws {
    let bench = bench()
    let api = bench.client()
    let calls = (0..<3).map { _ in Task { try await api.send(ping) } }
    try await gate.waitForArrivals(1)
    try await waitWhile(!api.calls.isWaitingForCredentials(3))
    // The server accepts the tokens that it has just issued; the gate delays its response.
    let renewed = Credential.tokens(Tokens(access: "access-2"))
    bench.tokens.set(renewed, account: "ada")
    // The refresh is still under way.
    for call in calls { #expect(try await call.value == "ok ") }
    gate.open()
    #expect(bench.tokens.current().credential == renewed && bench.refreshes == 1)
    #expect(bench.events.all.isEmpty)
  }

  @Test(
    "Waiting calls end as soon as the app clears the store or signs another account in", arguments: [true, false])
  func ended(isCleared: Bool) async throws {
    let bench = bench()
    let api = bench.client()
    let call = Task { await failure { try await api.send(ping) } }
    try await gate.waitForArrivals(1)
    if isCleared { bench.tokens.clear() } else { bench.tokens.set(accepted) }
    let error = await call.value
    #expect(error?.underlying is PrincipalChangedError && error?.requestState == .responded)
    gate.open()
  }

  @Test(
    "Calls that wait for the end of a cool-down also continue or end when the store changes", arguments: [true, false])
  func coolingDown(isCleared: Bool) async throws {
    let bench = bench()
    gate.open()
    bench.replyToRefreshes(with: .status(503))
    let api = bench.client()
    let call = Task { try await api.send(ping) }
    try await waitWhile(!api.calls.isCoolingDown)
    if isCleared { bench.tokens.clear() } else { bench.tokens.set(accepted, account: "ada") }
    // The clock does not advance.
    if isCleared {
      #expect(await failure { try await call.value }?.underlying is PrincipalChangedError)
    } else {
      #expect(try await call.value == "ok ")
    }
    #expect(bench.refreshes == 1)
  }

  @Test("A refresh that ends the session itself ends the calls with its own error")
  func ownClear() async throws {
    let bench = bench()
    bench.replyToRefreshes(with: .json(#"{"error":"invalid_grant"}"#, status: 400))
    let api = bench.client()
    let calls = (0..<3).map { _ in Task { await failure { try await api.send(ping) } } }
    try await gate.waitForArrivals(1)
    try await waitWhile(!api.calls.isWaitingForCredentials(3))
    gate.open()
    for call in calls { #expect(await call.value?.sessionEnd == .expired) }
    #expect(bench.events.all.map(\.reason) == [.expired])
  }

  @Test("A refresh that ignores its cancellation gives up the lease after twice its limit, and its result is discarded")
  func hanging() async throws {
    let bench = bench()
    let (started, late) = (Gate(), Gate())
    started.open()
    let ended = Log<Bool>()
    let api = bench.client(limit: .seconds(10)) { _ in
      try await started.wait()
      // The detached task is not cancelled with the refresh.
      await Task.detached { try? await late.wait() }.value
      ended.add(Task.isCancelled)
      return Tokens(access: "late", refresh: "late")
    }
    let call = Task { await failure { try await api.send(ping) } }
    try await late.waitForArrivals(1)
    try await bench.clock.waitForSleepers(1)
    bench.clock.advance(by: .seconds(10))
    #expect(await call.value?.code == .timeout)
    try await bench.clock.waitForSleepers(1)
    let taken = Log<String>()
    let waiter = Task { [tokens = bench.tokens] in try await tokens.withLock { taken.add("lease") } }
    await Task.yield()
    #expect(taken.all.isEmpty)
    bench.clock.advance(by: .seconds(10))
    try await waiter.value
    late.open()
    try await ended.first()
    #expect(ended.all == [true])
    let stored = bench.tokens.current()
    #expect(stored.generation == 1)
    #expect(stored.credential == .tokens(Tokens(access: "access-1", refresh: "refresh-1")))
  }
}

extension CallRegistry {
  /// Whether a call waits for the end of a cool-down.
  fileprivate var isCoolingDown: Bool {
    all.contains { entry in
      entry.trace.events.contains {
        if case .note("waits to refresh again, ms", _) = $0.kind { true } else { false }
      }
    }
  }
}

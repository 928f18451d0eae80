import ApusCore
import ApusTesting
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ApusAWS

/// Tests of shared fetches, early fetches and cool-downs.
@Suite("Credentials cache", .timeLimit(.minutes(5)))
struct CredentialsCacheTests {
  private struct Outage: Error, Equatable {}

  /// A source whose fetch a test controls.
  private final class Source: Sendable {
    let gate = Gate()
    private let state = Mutex<(results: [Result<FetchedCredentials, Outage>], fetches: Int)>(([], 0))

    init(_ results: [Result<FetchedCredentials, Outage>]) {
      state.withLock { $0.results = results }
    }

    var fetches: Int { state.withLock { $0.fetches } }

    func fetch() async throws -> FetchedCredentials {
      let result = state.withLock { state in
        state.fetches += 1
        return state.results.count > 1 ? state.results.removeFirst() : state.results[0]
      }
      try await gate.wait()
      return try result.get()
    }
  }

  private let clock = ManualClock(.manual)

  private static func fetched(_ id: String, _ seconds: TimeInterval?, isStable: Bool = false) -> FetchedCredentials {
    FetchedCredentials(
      credentials: AWSCredentials(
        accessKeyID: id, secretAccessKey: "s", expiration: seconds.map { Date.example.addingTimeInterval($0) }),
      isStable: isStable)
  }

  private func cache(_ source: Source) -> CredentialsCache {
    // The wall clock follows the virtual clock.
    let now: @Sendable () -> Date = { [clock] in
      Date.example.addingTimeInterval(Double(clock.now.sinceStart.components.seconds))
    }
    return CredentialsCache(Runtime(clock: clock, random: { 0 }), now: now, source.fetch)
  }

  @Test("Concurrent calls wait for one fetch")
  func single() async throws {
    let source = Source([.success(Self.fetched("A", 3600))])
    let cache = cache(source)
    let calls = (0..<100).map { _ in Task { try await cache.credentials() } }
    try await source.gate.waitForArrivals(1)
    source.gate.open()
    for call in calls { #expect(try await call.value.accessKeyID == "A") }
    #expect(source.fetches == 1 && cache.ready?.accessKeyID == "A")
  }

  @Test("A cancelled call does not end the fetch for other calls")
  func cancelled() async throws {
    let source = Source([.success(Self.fetched("A", nil))])
    let cache = cache(source)
    let first = Task { try await cache.credentials() }
    try await source.gate.waitForArrivals(1)
    let second = Task { try await cache.credentials() }
    first.cancel()
    await #expect(throws: CancellationError.self) { try await first.value }
    source.gate.open()
    #expect(try await second.value.accessKeyID == "A")
    #expect(source.fetches == 1)
  }

  @Test("Credentials that are about to expire are used during the next fetch; expired credentials are not")
  func early() async throws {
    let source = Source([.success(Self.fetched("A", 600)), .success(Self.fetched("B", 7200))])
    source.gate.open()
    let cache = cache(source)
    #expect(try await cache.credentials().accessKeyID == "A")
    clock.advance(by: .seconds(539))
    #expect(cache.ready?.accessKeyID == "A" && source.fetches == 1)
    clock.advance(by: .seconds(1))
    #expect(cache.ready == nil)
    #expect(try await cache.credentials().accessKeyID == "A")
    try await waitWhile(cache.ready == nil)
    #expect(cache.ready?.accessKeyID == "B" && source.fetches == 2)
  }

  @Test("After the expiration calls wait for new credentials")
  func expired() async throws {
    let source = Source([.success(Self.fetched("A", 600)), .success(Self.fetched("B", 7200))])
    source.gate.open()
    let cache = cache(source)
    _ = try await cache.credentials()
    clock.advance(by: .seconds(600))
    #expect(try await cache.credentials().accessKeyID == "B")
  }

  @Test("A failed fetch fails all calls with its error; the next fetch follows after a cool-down that doubles")
  func coolDown() async throws {
    let source = Source([.failure(Outage())])
    source.gate.open()
    let cache = cache(source)
    for (pause, fetches) in [(1, 1), (2, 2), (4, 3)] {
      await #expect(throws: Outage.self) { try await cache.credentials() }
      await #expect(throws: Outage.self) { try await cache.credentials() }
      #expect(source.fetches == fetches)
      clock.advance(by: .seconds(pause))
    }
  }

  @Test("Expired credentials of an instance are used during an outage; other expired credentials are not")
  func stability() async throws {
    for isStable in [true, false] {
      let source = Source([.success(Self.fetched("A", 600, isStable: isStable)), .failure(Outage())])
      source.gate.open()
      let clock = ManualClock(.manual)
      let runtime = Runtime(clock: clock, random: { 0 })
      let cache = CredentialsCache(runtime, now: { .example }, source.fetch)
      _ = try await cache.credentials()
      clock.advance(by: .seconds(700))
      if isStable {
        #expect(try await cache.credentials().accessKeyID == "A")
        try await waitWhile(source.fetches < 2)
        #expect(try await cache.credentials().accessKeyID == "A")
      } else {
        await #expect(throws: Outage.self) { try await cache.credentials() }
      }
    }
  }

  @Test(
    "Credentials of an instance that are already expired when fetched are used for five minutes before the next fetch"
  )
  func extended() async throws {
    let source = Source([.success(Self.fetched("A", -10, isStable: true))])
    source.gate.open()
    let cache = cache(source)
    #expect(try await cache.credentials().accessKeyID == "A")
    clock.advance(by: .seconds(269))
    #expect(cache.ready != nil && source.fetches == 1)
    clock.advance(by: .seconds(1))
    #expect(cache.ready == nil)
  }

  @Test("Fetched credentials that have already expired are an error, unless they are those of an instance")
  func stale() async {
    let source = Source([.success(Self.fetched("A", 0))])
    source.gate.open()
    let cache = cache(source)
    await #expect(throws: SourceFailure.self) { try await cache.credentials() }
  }

  @Test("Rejected credentials are fetched once more, and the same rejection is ignored for a minute")
  func invalidation() async throws {
    let source = Source([.success(Self.fetched("A", nil))])
    source.gate.open()
    let cache = cache(source)
    let first = try await cache.credentials()
    cache.invalidate(AWSCredentials(accessKeyID: "other", secretAccessKey: "s"))
    #expect(cache.ready != nil)
    cache.invalidate(first)
    #expect(cache.ready == nil)
    #expect(try await cache.credentials() == first)
    #expect(source.fetches == 2)
    cache.invalidate(first)
    #expect(cache.ready != nil)
    clock.advance(by: .seconds(60))
    cache.invalidate(first)
    #expect(cache.ready == nil)
  }
}

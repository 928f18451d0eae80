import Apus
import ApusTesting
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import ApusCore
@testable import ApusMiddleware

@Suite("Stale responses")
struct StaleResponsesTests {
  private let world = CachedClient()
  private var stub: StubTransport { world.stub }
  private let friends = Request<String>.get("/friends")

  private static func failing(_ code: CallError.Code, _ state: RequestState = .notSent) -> StubReply {
    .failure(TransportError(code, requestState: state))
  }

  // MARK: While revalidating

  @Test("A stale response within stale-while-revalidate is the result before its revalidation ends")
  func revalidation() async throws {
    let gate = Gate()
    stub.on(
      .get, "/v1/friends",
      replies: [
        .text("Ann", fields: ["Cache-Control": "max-age=10, stale-while-revalidate=60", "ETag": "\"1\""]),
        .fresh("Bob").waiting(for: gate),
      ])
    _ = try await world.get(friends)
    world.clock.advance(by: .seconds(15))
    for _ in 0..<2 {
      let response = try await world.api.response(to: friends.field("Range", "bytes=0-1"))
      #expect(response.value == "An" && response.cacheStatus?.isStale == true)
      #expect(response.cacheStatus?.description == "Apus; hit; ttl=-5")
    }
    try await gate.waitForArrivals(1)
    gate.open()
    try await waitWhile { world.cache.revalidations.withLock { $0.runningCount } > 0 }
    #expect(try await world.get(friends).text == "Bob")
    // One call in the background, without the range of the call.
    #expect(world.sent("If-None-Match") == ["", "\"1\""] && world.sent("Range") == ["", ""])
  }

  @Test("After stale-while-revalidate the call waits for the server")
  func windowOver() async throws {
    stub.on(
      .get, "/v1/friends",
      replies: [.text("Ann", fields: ["Cache-Control": "max-age=10, stale-while-revalidate=60"]), .fresh("Bob")])
    _ = try await world.get(friends)
    world.clock.advance(by: .seconds(71))
    #expect(try await world.get(friends).text == "Bob")
  }

  @Test("1,000 calls for one stale response are one request", arguments: [true, false])
  func storm(whileRevalidating: Bool) async throws {
    let gate = Gate()
    let window = whileRevalidating ? ", stale-while-revalidate=60" : ""
    stub.on(
      .get, "/v1/friends",
      replies: [
        .text("Ann", fields: ["Cache-Control": "max-age=10\(window)", "ETag": "\"1\""]),
        .unchanged(["Cache-Control": "max-age=60"]).waiting(for: gate),
      ])
    _ = try await world.get(friends)
    world.clock.advance(by: .seconds(15))
    let texts = try await withThrowingTaskGroup(of: String.self) { group in
      for _ in 0..<1000 { group.addTask { try await world.get(friends).text } }
      if !whileRevalidating { try await waitWhile { world.api.calls.all.count(where: \.hasJoined) < 999 } }
      gate.open()
      return try await group.reduce(into: Set<String>()) { $0.insert($1) }
    }
    #expect(texts == ["Ann"])
    try await waitWhile { world.cache.revalidations.withLock { $0.runningCount } > 0 }
    #expect(stub.exchanges.count == 2)
    #expect(try await world.get(friends).status.hasPrefix("Apus; hit"))
  }

  // MARK: In place of a failure

  @Test(
    "A stale response takes the place of a failure of the server or the network, as far as the server or the call allows",
    arguments: [
      (StubReply.status(500), true), (.status(502), true), (.status(503), true), (.status(504), true),
      (.status(501), false), (.status(404), false), (.status(429), false), (failing(.connectionFailed), true),
      (failing(.connectionLost, .maybeSent), true), (failing(.timeout, .maybeSent), true),
      (failing(.hostNotFound), true), (failing(.tls), false), (failing(.malformedResponse, .responded), false),
      (failing(.refused), false),
    ])
  func failures(reply: StubReply, isReplaced: Bool) async throws {
    for (fields, request) in [
      ("max-age=10, stale-if-error=60", friends), ("max-age=10", friends.cache(.allowStale(.seconds(60)))),
    ] {
      let world = CachedClient()
      world.stub.on(.get, "/v1/friends", replies: [.text("Ann", fields: ["Cache-Control": "\(fields)"]), reply])
      _ = try await world.get(request)
      world.clock.advance(by: .seconds(15))
      let response = try? await world.api.response(to: request)
      #expect((response?.value == "Ann") == isReplaced)
      #expect((response?.cacheStatus?.isStale == true) == isReplaced)
      if isReplaced {
        #expect(response?.cacheStatus?.description.hasSuffix("ttl=-5; detail=stale-if-error") == true)
        #expect(response?.field("Age") == "15")
      }
    }
  }

  @Test("Without a network a stale response is the result up to 7 days, unless the response forbids it")
  func offline() async throws {
    for (fields, days, isReplaced) in [
      ("max-age=0", 7, true), ("max-age=0", 8, false), ("no-cache", 1, false),
      ("max-age=0, must-revalidate", 1, false),
    ] {
      let world = CachedClient { $0.connectivity = Connectivity() }
      world.stub.on(
        .get, "/v1/friends",
        replies: [.text("Ann", fields: ["Cache-Control": "\(fields)", "ETag": "\"1\""]), Self.failing(.offline)])
      _ = try await world.get(friends)
      world.clock.advance(by: .seconds(days * 24 * 60 * 60 - 60))
      let response = try? await world.api.response(to: friends)
      #expect((response?.value == "Ann") == isReplaced, "\(fields) \(days)")
      if isReplaced { #expect(response?.cacheStatus?.description.contains("detail=offline") == true) }
    }
  }

  @Test("With a stale response at hand, a call does not wait for a network, unless its endpoint says so")
  func offlineAtOnce() async throws {
    let connectivity = Connectivity()
    let world = CachedClient {
      $0.connectivity = connectivity
      $0.connectivityPolicy = .wait
    }
    world.stub.onAny(reply: .fresh("Ann", seconds: 0))
    _ = try await world.get(friends)
    connectivity.report(.offline)
    let response = try await world.api.response(to: friends)
    #expect(response.value == "Ann" && response.cacheStatus?.isStale == true)
    #expect(world.stub.exchanges.count == 1)
  }

  @Test("A stale response is used at most a second after a failure without asking again, and an answer ends that")
  func pause() async throws {
    let lines: FieldLines = ["Cache-Control": "max-age=0, stale-if-error=600"]
    stub.on(
      .get, "/v1/friends",
      replies: [.text("Ann", fields: lines), .status(503), .status(503), .fresh("Bob")])
    _ = try await world.get(friends)
    var texts: [String] = []
    for _ in 0..<3 {
      for _ in 0..<10 { texts.append(try await world.get(friends).text) }
      world.clock.advance(by: .seconds(1))
    }
    #expect(texts == Array(repeating: "Ann", count: 20) + Array(repeating: "Bob", count: 10))
    #expect(stub.exchanges.count == 4)
  }

  @Test("An open circuit is answered by a stale response, which the circuit does not count")
  func circuit() async throws {
    let world = CachedClient { $0.breaker = CircuitBreaker(BreakerPolicy(consecutiveFailures: 1)) }
    let lines: FieldLines = ["Cache-Control": "max-age=0, stale-if-error=600"]
    world.stub.on(.get, "/v1/friends", replies: [.text("Ann", fields: lines), .status(503)])
    for _ in 0..<2 { _ = try await world.get(friends) }
    world.clock.advance(by: .seconds(2))
    for _ in 0..<3 {
      let response = try await world.api.response(to: friends)
      #expect(response.value == "Ann" && response.cacheStatus?.isStale == true)
      world.clock.advance(by: .seconds(1))
    }
    #expect(world.stub.exchanges.count == 2)
  }

  @Test("A cancelled call is not answered")
  func cancelled() async throws {
    stub.on(
      .get, "/v1/friends",
      replies: [.text("Ann", fields: ["Cache-Control": "max-age=0, stale-if-error=600"]), .stalled])
    _ = try await world.get(friends)
    let task = Task { await failure { try await world.get(friends) } }
    try await stub.waitForExchanges(2)
    task.cancel()
    #expect(await task.value?.code == .cancelled)
  }
}

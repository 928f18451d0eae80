import Apus
import ApusTesting
import HTTPTypes
import TestSupport
import Testing

@testable import ApusCore
@testable import ApusMiddleware

@Suite("What endpoints say about caching")
struct CachePolicyTests {
  private let world = CachedClient()
  private var stub: StubTransport { world.stub }
  private let friends = Request<String>.get("/friends")

  @Test(
    "The lifetime of an endpoint applies to responses that say nothing about caching",
    arguments: [
      (StubReply.text("Ann"), 1), (.text("Ann", status: 203), 1), (.text("Ann", fields: ["Cache-Control": ""]), 2),
      (.text("Ann", fields: ["Cache-Control": "private"]), 2), (.text("Ann", fields: ["Pragma": "x"]), 2),
      (.text("Ann", fields: ["Expires": "0"]), 2), (.text("Ann", status: 201), 2),
    ])
  func lifetime(reply: StubReply, exchanges: Int) async throws {
    stub.onAny(reply: reply)
    for _ in 0..<2 { _ = try await world.get(friends.cache(for: .seconds(60))) }
    #expect(stub.exchanges.count == exchanges)
    world.clock.advance(by: .seconds(60))
    _ = try await world.get(friends.cache(for: .seconds(60)))
    #expect(stub.exchanges.count == exchanges + 1)
  }

  @Test("A reload asks the server, which may confirm the stored response")
  func reload() async throws {
    stub.on(
      .get, "/v1/friends", replies: [.fresh("Ann", ["ETag": "\"1\""]), .unchanged(), .fresh("Bob", ["ETag": "\"2\""])])
    _ = try await world.get(friends)
    let confirmed = try await world.get(friends.cache(.reload))
    #expect(confirmed.text == "Ann" && confirmed.status.hasPrefix("Apus; fwd=request; fwd-status=304"))
    #expect(try await world.get(friends.cache(.reload)).text == "Bob")
    #expect(try await world.get(friends).text == "Bob")
    #expect(world.sent("Cache-Control") == ["", "no-cache", "no-cache"])
    #expect(world.sent("If-None-Match") == ["", "\"1\"", "\"1\""])
  }

  @Test("Without a usable response, only-if-cached is the status 504, and nothing is sent")
  func onlyIfCached() async throws {
    stub.onAny(reply: .fresh("Ann"))
    let stored = friends.cache(.onlyIfCached)
    let error = await failure { try await world.get(stored) }
    #expect(error?.status == 504 && error?.trace.cacheStatus?.description.contains("only-if-cached") == true)
    #expect(stub.exchanges.isEmpty)
    _ = try await world.get(friends)
    #expect(try await world.get(stored).text == "Ann")
    world.clock.advance(by: .seconds(70))
    #expect(await failure { try await world.get(stored) }?.status == 504)
    let stale = try await world.api.response(to: stored.cache(.allowStale(.seconds(60))))
    #expect(stale.value == "Ann" && stale.cacheStatus?.isStale == true)
    #expect(stub.exchanges.count == 1)
  }

  // MARK: Invalidation

  @Test("An unsafe request invalidates its own URL, an unsuccessful one does not", arguments: [204, 302, 404, 500])
  func unsafe(status: Int) async throws {
    stub.onAny(reply: .fresh("Ann"))
    stub.on(.post, "/v1/friends", reply: .status(status))
    _ = try await world.get(friends)
    _ = try? await world.api.send(Request<Void>.post("/friends").redirects(.none))
    _ = try await world.get(friends)
    #expect(world.targets.count == (status < 400 ? 3 : 2))
  }

  @Test("Groups are invalidated by endpoints, by the app and by the fields of RFC 9875")
  func groups() async throws {
    stub.onAny(reply: .fresh("Ann", ["ETag": "\"1\""]))
    stub.on(.get, "/v1/named", reply: .fresh("Ann", ["Cache-Groups": "\"named\""]))
    stub.on(.post, "/v1/plain", reply: .status(204))
    stub.on(.post, "/v1/failed", reply: .status(409))
    stub.on(.post, "/v1/server", reply: .status(204, fields: ["Cache-Group-Invalidation": "\"named\", \"friends\""]))
    let grouped = friends.cacheGroups("friends", "user/7")
    func isStored(_ request: Request<String>) async throws -> Bool {
      let count = stub.exchanges.count
      _ = try await world.get(request)
      return stub.exchanges.count == count
    }
    func change(_ path: RequestPath, _ groups: [String]) async {
      var request = Request<Void>.post(path)
      for group in groups { request = request.invalidates(group) }
      _ = try? await world.api.send(request)
    }
    #expect(try await !isStored(grouped))
    #expect(try await isStored(grouped))
    await change("/plain", ["other"])
    #expect(try await isStored(grouped))
    await change("/failed", ["friends"])
    #expect(try await isStored(grouped))
    await change("/plain", ["other", "user/7"])
    #expect(try await !isStored(grouped))
    #expect(try await isStored(grouped))
    await world.api.invalidate("a", "friends")
    #expect(try await !isStored(grouped))
    let named = Request<String>.get("/named")
    #expect(try await !isStored(named))
    #expect(try await isStored(named))
    await change("/server", [])
    #expect(try await !isStored(named))
    // The server's groups are those of its own fields and of endpoints.
    #expect(try await !isStored(grouped))
  }

  @Test("A failure after which the server may have seen the request invalidates, one before does not")
  func failures() async throws {
    stub.onAny(reply: .fresh("Ann"))
    let grouped = friends.cacheGroups("friends")
    _ = try await world.get(grouped)
    for (state, count) in [(RequestState.notSent, 1), (.maybeSent, 2)] {
      stub.on(.post, "/v1/add", reply: .failure(TransportError(.connectionLost, requestState: state)))
      _ = try? await world.api.send(Request<Void>.post("/add").invalidates("friends"))
      _ = try await world.get(grouped)
      // The stub reports no connections, so every exchange that has begun counts as possibly sent.
      #expect(world.targets.filter { $0 == "/v1/friends" }.count == (state == .notSent ? 2 : 3), "\(count)")
    }
  }

  @Test("The response to a request that was sent before an invalidation is stored as stale", arguments: [true, false])
  func race(byGroup: Bool) async throws {
    let gate = Gate()
    stub.onAny(reply: .status(204))
    stub.on(
      .get, "/v1/friends",
      replies: [.fresh("Ann", ["ETag": "\"1\""]).waiting(for: gate), .fresh("Ann and Bob")])
    let grouped = friends.cacheGroups("friends")
    async let early = world.get(grouped)
    try await gate.waitForArrivals(1)
    if byGroup {
      await world.api.invalidate("friends")
    } else {
      try await world.api.send(Request<Void>.post("/friends"))
    }
    gate.open()
    let text = try await early.text
    #expect(text == "Ann")
    #expect(try await world.get(grouped).text == "Ann and Bob")
  }
}

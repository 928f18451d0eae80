import Apus
import ApusTesting
import HTTPTypes
import TestSupport
import Testing

@testable import ApusCore
@testable import ApusMiddleware

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("A client with a cache")
struct ResponseCacheTests {
  private let world = CachedClient()
  private var stub: StubTransport { world.stub }
  private let friends = Request<String>.get("/friends")

  // MARK: Hits

  @Test("A fresh response is the result of the next call, without an exchange and with its age")
  func hit() async throws {
    stub.onAny(reply: .fresh("Ann", ["Age": "3"]))
    let first = try await world.get(friends)
    #expect(first.text == "Ann" && first.status == "Apus; fwd=uri-miss; stored")
    world.clock.advance(by: .seconds(10))
    let response = try await world.api.response(to: friends)
    #expect(response.value == "Ann" && response.field("Age") == "13" && response.status == 200)
    #expect(response.cacheStatus?.description == "Apus; hit; ttl=47" && response.cacheStatus?.isStale == false)
    #expect(response.trace.events.contains { "\($0.kind)" == "cache: Apus; hit; ttl=47" })
    #expect(stub.exchanges.count == 1)
    let usage = await world.cache.usage
    #expect(usage > 3)
  }

  @Test("Without a cache, nothing is stored and a response has no decision")
  func none() async throws {
    let api = Client(baseURL: "https://api.example.com/v1", transport: stub)
    stub.onAny(reply: .fresh("Ann"))
    for _ in 0..<2 { #expect(try await api.response(to: friends).cacheStatus == nil) }
    #expect(stub.exchanges.count == 2)
  }

  @Test("A stale response is confirmed by its validator, and gets the fields of the 304")
  func validation() async throws {
    stub.on(
      .get, "/v1/friends",
      replies: [
        .fresh("Ann", seconds: 5, ["ETag": "\"1\""]), .unchanged(["Cache-Control": "max-age=60", "X-New": "1"]),
      ])
    _ = try await world.get(friends)
    world.clock.advance(by: .seconds(10))
    let response = try await world.api.response(to: friends)
    #expect(response.value == "Ann" && response.status == 200 && response.field("X-New") == "1")
    #expect(response.cacheStatus?.description == "Apus; fwd=stale; fwd-status=304; ttl=60; stored")
    #expect(world.sent("If-None-Match") == ["", "\"1\""])
    let third = try await world.get(friends)
    #expect(third.status == "Apus; hit; ttl=60" && stub.exchanges.count == 2)
  }

  @Test("A new response replaces a stale one")
  func replacement() async throws {
    stub.on(.get, "/v1/friends", replies: [.fresh("Ann", seconds: 5, ["ETag": "\"1\""]), .fresh("Bob")])
    _ = try await world.get(friends)
    world.clock.advance(by: .seconds(10))
    for _ in 0..<2 { #expect(try await world.get(friends).text == "Bob") }
    #expect(stub.exchanges.count == 2)
  }

  @Test("A 304 to a validator that is not stored repeats the request without it")
  func strangeConfirmation() async throws {
    stub.on(
      .get, "/v1/friends",
      replies: [.fresh("Ann", seconds: 5, ["ETag": "\"1\""]), .unchanged(["ETag": "\"2\""]), .fresh("Bob")])
    _ = try await world.get(friends)
    world.clock.advance(by: .seconds(10))
    #expect(try await world.get(friends).text == "Bob")
    #expect(world.sent("If-None-Match") == ["", "\"1\"", ""])
  }

  @Test("A 304 brings its cookies to the response, and they are not stored")
  func cookies() async throws {
    stub.on(
      .get, "/v1/friends",
      replies: [
        .fresh("Ann", seconds: 0, ["ETag": "\"1\"", "Set-Cookie": "a=1"]), .unchanged(["Set-Cookie": "a=2"]),
        .unchanged(),
      ])
    var cookies: [String?] = []
    for _ in 0..<3 { cookies.append(try await world.api.response(to: friends).field("Set-Cookie")) }
    #expect(cookies == ["a=1", "a=2", nil])
  }

  @Test("Values of the fields that Vary names select the response")
  func vary() async throws {
    stub.onAny(reply: .fresh("hello", ["Vary": "Accept-Language"]))
    for language in ["en", "de", "en"] { _ = try await world.get(friends.field("Accept-Language", language)) }
    #expect(world.sent("Accept-Language") == ["en", "de"])
  }

  @Test("A response to GET answers HEAD and a request for a range")
  func forms() async throws {
    stub.onAny(reply: .fresh("0123456789"))
    _ = try await world.get(friends)
    let head = try await world.api.response(to: Request<Void>.head("/friends"))
    #expect(head.field("Content-Length") == "10")
    let part = try await world.api.response(to: friends.field("Range", "bytes=2-4"))
    #expect(part.status == 206 && part.value == "234" && part.field("Content-Range") == "bytes 2-4/10")
    #expect(stub.exchanges.count == 1)
  }

  @Test("The content of a QUERY is part of what selects its response")
  func query() async throws {
    stub.onAny(reply: .fresh("found"))
    func search(_ text: String) -> Request<String> {
      Request(
        method: .init(rawValue: "QUERY") ?? .get, path: "/search", content: .json(["text": text]), mapping: .decoded)
    }
    for text in ["a", "b", "a"] { _ = try await world.get(search(text)) }
    #expect(stub.exchanges.count == 2)
  }

  @Test("Content above the limit of the call fails as without a cache")
  func contentLimit() async throws {
    stub.onAny(reply: .fresh("0123456789"))
    _ = try await world.get(friends)
    let error = await failure { try await world.api.send(friends.contentLimit(5)) }
    #expect(error?.code == .contentTooLarge && stub.exchanges.count == 1)
  }

  // MARK: Not stored

  @Test(
    "A response that must not be stored is not stored",
    arguments: [
      (StubReply.text("Ann", fields: ["Cache-Control": "no-store, max-age=60"]), Request<String>.get("/a")),
      (.fresh("Ann", ["Vary": "*"]), .get("/a")),
      (.fresh("Ann"), .get("/a").field("Cache-Control", "no-store")),
      (.fresh("Ann"), .get("/a").cache(.none)),
      (.fresh("Ann"), .post("/a")),
    ])
  func unstorable(reply: StubReply, request: Request<String>) async throws {
    stub.onAny(reply: reply)
    for _ in 0..<2 { _ = try await world.get(request) }
    #expect(stub.exchanges.count == 2)
    let usage = await world.cache.usage
    #expect(usage == 0)
  }

  @Test("The target of a redirect is not stored under the first URL, and gets no conditions of the cache")
  func redirects() async throws {
    let moved = StubReply.status(302, fields: ["Location": "/v1/new"])
    stub.on(.get, "/v1/friends", replies: [.fresh("Ann", seconds: 0, ["ETag": "\"1\""]), moved, moved])
    stub.on(.get, "/v1/new", reply: .fresh("Bob", ["ETag": "\"1\""]))
    var texts: [String] = []
    for _ in 0..<3 { texts.append(try await world.get(friends).text) }
    #expect(texts == ["Ann", "Bob", "Bob"])
    #expect(world.targets == ["/v1/friends", "/v1/friends", "/v1/new", "/v1/friends", "/v1/new"])
    #expect(world.sent("If-None-Match") == ["", "\"1\"", "", "\"1\"", ""])
  }

  @Test("A stored redirect is the result only of calls that do not follow redirects")
  func storedRedirects() async throws {
    stub.onAny(reply: .fresh("Ann"))
    stub.on(.get, "/v1/old", reply: .status(301, fields: ["Location": "/v1/new", "Cache-Control": "max-age=60"]))
    let old = Request<Void>.get("/old").accepting(.any)
    var statuses: [Int] = []
    for policy in [RedirectPolicy.none, .follow, .none] {
      statuses.append(try await world.api.response(to: old.redirects(policy)).status)
    }
    statuses.append(try await world.api.response(to: old).status)
    #expect(statuses == [301, 200, 301, 200])
    #expect(world.targets == ["/v1/old", "/v1/old", "/v1/new", "/v1/old", "/v1/new"])
  }

  @Test("An entry uses at most an eighth of the capacity, and the least recently used entries are removed first")
  func capacity() async throws {
    let world = CachedClient(.memory(megabytes: 1))
    let text = String(repeating: "a", count: 100_000)
    world.stub.onAny(reply: .fresh(text))
    for number in 0..<12 { _ = try await world.get(.get("/\(number)")) }
    let usage = await world.cache.usage
    #expect((900_000...1 << 20).contains(usage))
    let status = (try await world.get(.get("/0")).status, try await world.get(.get("/11")).status)
    #expect(status.0.contains("miss") && status.1.contains("hit"))
    world.stub.onAny(reply: .fresh(text + text))
    let large = try await world.get(.get("/large"))
    #expect(large.status == "Apus; fwd=uri-miss")
  }

  @Test("All entries can be removed, and responses that are arriving are not stored then")
  func removeAll() async throws {
    let gate = Gate()
    stub.onAny(reply: .fresh("Ann"))
    stub.on(.get, "/v1/late", reply: .fresh("late").waiting(for: gate))
    _ = try await world.get(friends)
    async let late = world.get(.get("/late"))
    try await gate.waitForArrivals(1)
    await world.cache.removeAll()
    gate.open()
    let status = try await late.status
    #expect(status == "Apus; fwd=uri-miss")
    let usage = await world.cache.usage
    #expect(usage == 0)
  }

  // MARK: Streams

  @Test("A stream is stored if it is read to its end, and the stored content is read as a stream")
  func streams() async throws {
    stub.onAny(reply: .pieces(["An", "n"], fields: ["Cache-Control": "max-age=60"]))
    func read(_ count: Int) async throws -> String {
      try await world.api.withResponse(to: friends) { response in
        var text = ""
        for _ in 0..<count {
          guard let piece = try await response.next() else { break }
          text += String(decoding: piece, as: UTF8.self)
        }
        return text
      }
    }
    #expect(try await read(1) == "An")
    #expect(try await read(2) == "Ann")
    let before = await world.cache.usage
    #expect(before == 0)
    for _ in 0..<2 { #expect(try await read(9) == "Ann") }
    #expect(stub.exchanges.count == 3)
    #expect(try await world.get(friends).text == "Ann")
    #expect(stub.exchanges.count == 3)
  }

  @Test("A stream that is cut short is not stored")
  func cutStream() async throws {
    stub.onAny(reply: .pieces(["An", "n"], fields: ["Cache-Control": "max-age=60"]).failing(after: 1))
    for _ in 0..<2 {
      let error = await failure {
        try await world.api.withResponse(to: friends) { response in while try await response.next() != nil {} }
      }
      #expect(error?.code == .connectionLost)
    }
    #expect(stub.exchanges.count == 2)
  }
}

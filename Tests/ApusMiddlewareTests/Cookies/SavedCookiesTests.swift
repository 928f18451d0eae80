import ApusCore
import ApusTesting
import Testing

@testable import ApusMiddleware

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Cookies that outlive the process")
struct SavedCookiesTests {
  /// Encodes and decodes cookies, as a file does.
  private func stored(_ saved: SavedCookies) throws -> SavedCookies {
    try JSONDecoder().decode(SavedCookies.self, from: JSONEncoder().encode(saved))
  }

  @Test("A restored jar has the same number and cookies, and continues their orders")
  func restored() throws {
    var bench = CookieBench()
    try bench.set("a=1; Path=/; Max-Age=60; Secure; HttpOnly; SameSite=None")
    try bench.set("b=2; Domain=example.com; Path=/v1")
    try bench.set("c=3; Path=/")
    _ = try bench.sent(to: "https://api.example.com/v1")
    try bench.set("a=4; Path=/; Max-Age=60")
    let saved = try stored(bench.state.saved(at: bench.now))
    #expect(saved.number == 1 && saved.items.count == 3)
    var next = bench
    next.state = CookieState(saved)
    #expect(next.state.all == bench.state.all && next.state.count == 3)
    // The same changes have the same results in both jars.
    for field in ["d=5; Path=/", "e=6; Path=/", "b=; Domain=example.com; Path=/v1; Max-Age=0", "a=7; Path=/"] {
      #expect(try next.set(field) == bench.set(field))
      #expect(try next.sent() == bench.sent())
    }
  }

  @Test("Any bytes are restored", arguments: 0..<20 as Range<UInt64>)
  func bytes(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    func random(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) } }
    let key = Cookie.Key(name: random(40), domain: "example.com", isHostOnly: true, path: random(40))
    let attributes = try #require(SetCookie(Array("a=1".utf8)))
    let cookie = Cookie(key, attributes, at: 0, serial: .max)
    let saved = try stored(SavedCookies(number: .max, items: [SavedCookies.Item(cookie)]))
    #expect(saved.items.compactMap { Cookie($0) } == [cookie] && saved.number == .max)
  }

  @Test("Expired cookies are not saved, and cookies without an expiry are")
  func expired() throws {
    var bench = CookieBench()
    try bench.set("a=1; Max-Age=60")
    try bench.set("b=2")
    bench.now += 60
    #expect(bench.state.saved(at: bench.now).items.map(\.name) == ["b"])
  }

  @Test(
    "Only changes of cookies count as changes",
    arguments: [
      ("a=1; Path=/", false), ("a=2; Path=/", true), ("a=1; Path=/; Secure", true), ("a=1; Path=/; Max-Age=9", true),
      ("a=1", true), ("a=; Path=/; Max-Age=0", true), ("b=; Path=/; Max-Age=0", false),
      ("c=1; Domain=other.com", false),
    ])
  func revision(field: String, isChange: Bool) throws {
    var bench = CookieBench()
    try bench.set("a=1; Path=/")
    let revision = bench.state.revision
    _ = try bench.sent()
    #expect(bench.state.revision == revision)
    try bench.set(field)
    #expect((bench.state.revision != revision) == isChange)
  }

  @Test("Clearing the jar is a change")
  func cleared() throws {
    var bench = CookieBench()
    let revision = bench.state.revision
    bench.state.removeAll(number: 2)
    #expect(bench.state.revision != revision && bench.state.saved(at: 0) == SavedCookies(number: 2))
  }
}

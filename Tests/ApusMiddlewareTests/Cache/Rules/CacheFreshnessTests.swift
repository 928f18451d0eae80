import HTTPTypes
import Testing

@testable import ApusCore
@testable import ApusMiddleware

@Suite("Cache freshness")
struct CacheFreshnessTests {
  private static let off = CacheRules()
  private static let heuristic = CacheRules(heuristicFreshness: true)

  private func lifetime(_ lines: [String], _ rules: CacheRules = off, status: Int = 200) -> Int64 {
    let head = HTTPResponse(status: .init(code: status), headerFields: CacheWorld.fields(lines))
    return rules.lifetime(of: CacheWorld.stored(head), hasQuery: false)
  }

  @Test(
    "The lifetime is max-age, else Expires minus Date (RFC 9111 §4.2.1)",
    arguments: [
      (["Cache-Control: max-age=60"], 60), (["Cache-Control: max-age=60", "Expires: {-100}"], 60),
      (["Cache-Control: max-age=60", "Expires: 0"], 60), (["Cache-Control: max-age=0", "Expires: {100}"], 0),
      (["Cache-Control: s-maxage=60"], 0), (["Cache-Control: s-maxage=60, max-age=1"], 1),
      (["Cache-Control: s-maxage=60", "Cache-Control: max-age=1"], 1),
      (["Expires: {100}", "Date: {0}"], 100), (["Expires: {100}", "Date: {40}"], 60), (["Expires: {100}"], 100),
      (["Expires: {100}", "Date: x"], 100), (["Expires: {-100}", "Date: {0}"], 0), (["Expires: {0}", "Date: {0}"], 0),
      (["Expires: Sunday, 06-Nov-94 08:50:37 GMT"], 60), (["Expires: Sun Nov  6 08:50:37 1994"], 60),
      (["Expires: Fri, 31 Dec 9999 23:59:59 GMT"], 2_147_483_648),
      (["Expires: 0"], 0), (["Expires: -1"], 0), (["Expires:"], 0), (["Expires: 3600"], 0),
      (["Expires: SUN, 06 NOV 1994 08:50:37 gmt"], 60), (["Expires: Sun, 06  Nov  1994 08:50:37 GMT"], 0),
      (["Expires: Sun, 06 Nov 1994 08:50:37 UTC"], 0), (["Expires: Sun 06 Nov 1994 08:50:37 GMT"], 0),
      (["Expires: {100}", "Expires: {200}"], 0), (["Expires: {100}", "Expires: {100}"], 100),
      (["Expires: {100}, {200}"], 0), (["Cache-Control: public"], 0), ([], 0), (["Last-Modified: {-100000}"], 0),
    ] as [([String], Int64)])
  func stated(lines: [String], seconds: Int64) {
    #expect(lifetime(lines) == seconds, "\(lines)")
  }

  @Test(
    "The heuristic is a tenth of the time since the last modification, at most a day (RFC 9111 §4.2.2)",
    arguments: [
      (["Last-Modified: {-1000}"], 100), (["Last-Modified: {-1000}", "Date: {-500}"], 50),
      (["Last-Modified: {-100000000}"], 86_400), (["Last-Modified: {5}"], 0), (["Last-Modified: x"], 0), ([], 0),
      (["Last-Modified: {-1000}", "Cache-Control: max-age=1"], 1), (["Last-Modified: {-1000}", "Expires: 0"], 0),
      (["Last-Modified: {-1000}", "Pragma: no-cache"], 0), (["Last-Modified: {-1000}", "Pragma: x"], 100),
      (["Last-Modified: {-1000}", "Pragma: no-cache", "Cache-Control: public"], 100),
    ] as [([String], Int64)])
  func heuristic(lines: [String], seconds: Int64) {
    #expect(lifetime(lines, Self.heuristic) == seconds, "\(lines)")
  }

  @Test("The heuristic applies to statuses that may be stored without a lifetime, or with public, and without a query")
  func heuristicStatuses() {
    let modified = "Last-Modified: {-1000}"
    for status in 200...599 {
      let isAllowed = [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501].contains(status)
      #expect(lifetime([modified], Self.heuristic, status: status) == (isAllowed ? 100 : 0), "\(status)")
      #expect(lifetime([modified, "Cache-Control: public"], Self.heuristic, status: status) == 100)
    }
    #expect(Self.heuristic.lifetime(of: CacheWorld.stored(modified), hasQuery: true) == 0)
  }

  @Test("The lifetime of an endpoint applies to responses that say nothing about caching")
  func endpointLifetime() {
    func lifetime(_ status: Int, _ lines: String...) -> Int64 {
      let head = HTTPResponse(status: .init(code: status), headerFields: CacheWorld.fields(lines))
      var stored = CacheWorld.stored(head)
      stored.endpointLifetime = 60
      return Self.off.lifetime(of: stored, hasQuery: true)
    }
    for status in 200...599 {
      #expect(lifetime(status) == ([200, 203, 204, 300, 301, 308].contains(status) ? 60 : 0), "\(status)")
    }
    for line in [
      "Cache-Control: no-cache", "Cache-Control: public", "Cache-Control: x", "Cache-Control:", "Expires: 0",
      "Pragma: x",
    ] { #expect(lifetime(200, line) == 0, "\(line)") }
    #expect(lifetime(200, "Cache-Control: max-age=5") == 5 && lifetime(200, "Last-Modified: {-1000}") == 60)
    var stored = CacheWorld.stored()
    for (seconds, result) in [(-5, 0), (.min, 0), (.max, 1 << 31)] as [(Int64, Int64)] {
      stored.endpointLifetime = seconds
      #expect(Self.off.lifetime(of: stored, hasQuery: false) == result)
    }
  }

  @Test(
    "The age counts Age, Date, the delay of the response and the time in the cache (RFC 9111 §4.2.3)",
    arguments: [
      ([], 10), (["Age: 30"], 40), (["Age: 030"], 40), (["Age: 30,0"], 40), (["Age: 30", "Age: 0"], 40),
      (["Age: 0,30"], 10), (["Age: 0", "Age: 30"], 10), (["Age: abc"], 10), (["Age: -30"], 10), (["Age: 30.0"], 10),
      (["Age: 99999999999999999999"], 2_147_483_658), (["Date: {0}", "Age: 15"], 25), (["Date: {-20}"], 30),
      (["Date: {-20}", "Age: 5"], 30), (["Date: {500}"], 10), (["Date: x"], 10),
    ] as [([String], Int64)])
  func age(lines: [String], seconds: Int64) {
    let stored = CacheWorld.stored(HTTPResponse(status: .ok, headerFields: CacheWorld.fields(lines)))
    #expect(stored.age(at: CacheWorld.at(10)) == seconds * 1000, "\(lines)")
  }

  @Test("The delay of the response counts only in addition to Age")
  func delay() {
    let exchange = CacheExchange(requestTime: CacheWorld.at(-4), responseTime: CacheWorld.at(0))
    func age(_ lines: String...) -> Int64 {
      let head = HTTPResponse(status: .ok, headerFields: CacheWorld.fields(lines))
      return StoredResponse(head, to: CacheWorld.request(), during: exchange).age(at: CacheWorld.at(1)) / 1000
    }
    #expect(age("Age: 3") == 8 && age() == 5 && age("Date: {-2}") == 5 && age("Date: {-9}") == 10)
  }

  @Test("The monotonic clock decides in one process; a wall clock that was set back makes the age unknown")
  func clocks() {
    func stored(monotonic: Int64?) -> StoredResponse {
      let instant = CacheWorld.at(0, monotonic: monotonic)
      let head = CacheWorld.response(200, "Cache-Control: max-age=60, stale-while-revalidate=9999")
      let exchange = CacheExchange(requestTime: instant, responseTime: instant)
      return StoredResponse(head, to: CacheWorld.request(), during: exchange)
    }
    #expect(stored(monotonic: 5).age(at: CacheWorld.at(-500, monotonic: 12)) == 7000)
    #expect(stored(monotonic: 5).age(at: CacheWorld.at(500, monotonic: 12)) == 7000)
    #expect(stored(monotonic: nil).age(at: CacheWorld.at(20, monotonic: 12)) == 20_000)
    #expect(stored(monotonic: nil).age(at: CacheWorld.at(-1, monotonic: 12)) == ResponseFreshness.unknownAge)
    let decision = Self.off.decision(
      for: CacheWorld.request(), among: [stored(monotonic: nil)], at: CacheWorld.at(-1))
    #expect(decision.hit == nil && decision.request?.reason == .stale)
  }

  @Test("A response is fresh while its age is below its lifetime")
  func edge() {
    let stored = CacheWorld.stored("Cache-Control: max-age=60")
    func freshness(_ milliseconds: Int64) -> ResponseFreshness {
      let now = CacheInstant(wall: CacheWorld.epoch * 1000 + milliseconds)
      return Self.off.freshness(of: stored, for: CacheWorld.request(), at: now)
    }
    #expect(freshness(59_999).isFresh && freshness(59_999).remainingSeconds == 0)
    #expect(!freshness(60_000).isFresh && freshness(60_000).staleness == 0)
    #expect(freshness(60_001).remainingSeconds == -1 && freshness(60_001).staleness == 1)
  }
}

import HTTPTypes
import Testing

@testable import ApusCore
@testable import ApusMiddleware

@Suite("Responses and the cache (RFC 9111 §4.3)")
struct CacheUpdateTests {
  private let rules = CacheRules()

  /// Decides at the instant 100 and returns the effect of the response, which arrives at 102.
  private func update(
    _ response: HTTPResponse, _ stored: [StoredResponse], to request: CacheRequest = CacheWorld.request(),
    change: (inout ForwardedRequest) -> Void = { _ in }
  ) -> CacheUpdate {
    let decision = rules.decision(for: request, among: stored, at: CacheWorld.at(100))
    let exchange = CacheExchange(requestTime: CacheWorld.at(100), responseTime: CacheWorld.at(102), generation: 7)
    var forwarded = ForwardedRequest(
      request: request, forward: decision.request ?? CacheForward(reason: .stale), stored: stored,
      exchange: exchange)
    change(&forwarded)
    return rules.update(after: response, to: forwarded)
  }

  private func confirmed(_ update: CacheUpdate) -> UInt64? {
    if case .stored(let stored) = update.result { return stored.id }
    return nil
  }

  private func variant(_ id: UInt64, _ lines: String..., at seconds: Int64 = 0) -> StoredResponse {
    let head = HTTPResponse(status: .ok, headerFields: CacheWorld.fields(lines + ["Vary: A", "Date: {\(seconds)}"]))
    return CacheWorld.stored(head, id: id, to: CacheWorld.request(.get, "A: \(id)"), at: seconds)
  }

  // MARK: 304

  @Test("A 304 replaces fields, except those of the stored bytes, and restarts the age (RFC 9111 §3.2, §4.3.4)")
  func freshening() throws {
    let stored = CacheWorld.stored(
      "Cache-Control: max-age=1", "ETag: \"a\"", "Date: {0}", "Age: 50", "Content-Type: text/plain",
      "Content-Encoding: gzip", "Content-Length: 11", "X: 1", "X: 2", "Kept: 1", "Expires: {1}")
    let update = update(
      CacheWorld.response(
        304, "Cache-Control: max-age=60", "ETag: \"a\"", "Date: {101}", "Content-Type: text/plain;charset=utf-8",
        "Content-Encoding: br", "Content-Length: 0", "Content-Range: bytes 0-1/2", "X: 3", "Content-Foo: 4",
        "Connection: drop", "Drop: 1", "Set-Cookie: a=b", "Set-Cookie: c=d"), [stored])
    let fresh = try #require(update.freshened.first)
    let expected = CacheWorld.fields([
      "Content-Encoding: gzip", "Content-Length: 11", "Kept: 1", "Expires: {1}", "Cache-Control: max-age=60",
      "ETag: \"a\"", "Date: {101}", "Content-Type: text/plain;charset=utf-8", "X: 3", "Content-Foo: 4",
    ])
    #expect(fresh.fields == expected && update.freshened.count == 1 && update.result == .stored(fresh))
    #expect(fresh.id == 1 && fresh.contentLength == 11 && fresh.exchange.generation == 7 && update.new == nil)
    #expect(fresh.age(at: CacheWorld.at(110)) == 10_000)
    #expect(update.unstoredFields[values: .setCookie] == ["a=b", "c=d"] && update.unstoredFields.count == 2)
    let hit = rules.hit(with: fresh, for: CacheWorld.request(), at: CacheWorld.at(110))
    #expect(hit?.head.headerFields[.age] == "10" && hit?.form == .whole && hit?.freshness.isFresh == true)
  }

  @Test("A 304 without Date and Age does not keep those of the stored response")
  func dateless() throws {
    let stored = CacheWorld.stored("Cache-Control: max-age=60", "ETag: \"a\"", "Date: {-900}", "Age: 900")
    let fresh = try #require(update(CacheWorld.response(304, "ETag: \"a\""), [stored]).freshened.first)
    #expect(fresh.date == CacheWorld.epoch + 102 && fresh.age(at: CacheWorld.at(110)) == 10_000)
  }

  @Test("A strong tag freshens all responses that have it, a weak one the newest, none only a single one")
  func selection() {
    let strong = [variant(1, "ETag: \"a\""), variant(2, "ETag: \"a\"", at: 9), variant(3, "ETag: \"b\"", at: 5)]
    func freshened(_ stored: [StoredResponse], _ lines: String..., by value: Int = 1) -> Set<UInt64> {
      let head = HTTPResponse(status: .notModified, headerFields: CacheWorld.fields(lines))
      return Set(update(head, stored, to: CacheWorld.request(.get, "A: \(value)")).freshened.map(\.id))
    }
    #expect(freshened(strong, "ETag: \"a\"") == [1, 2] && freshened(strong, "ETag: \"b\"") == [3])
    #expect(freshened(strong, "ETag: \"c\"") == [] && freshened(strong) == [])
    #expect(freshened(strong, "ETag: W/\"a\"") == [1] && freshened(strong, "ETag: W/\"a\"", by: 9) == [2])
    let weak = [variant(1, "ETag: W/\"a\""), variant(2, "ETag: W/\"a\"", at: 9)]
    #expect(freshened(weak, "ETag: W/\"a\"") == [1] && freshened(weak, "ETag: W/\"a\"", by: 9) == [2])
    // The weak tags of other variants are not named.
    #expect(freshened(weak, "ETag: \"a\"") == [1] && freshened(weak, "ETag: \"a\"", by: 9) == [])
    let dated = [variant(1, "Last-Modified: {-9}"), variant(2, "Last-Modified: {-9}", at: 9)]
    #expect(freshened(dated, "Last-Modified: {-9}") == [1] && freshened(dated, "Last-Modified: {-8}") == [])
    // Only the response to the request itself was named.
    #expect(freshened(dated) == [1] && freshened([strong[0]]) == [1])
  }

  @Test("The result is the selected response if the 304 confirms it, else the confirmed one")
  func result() {
    let stored = [variant(1, "ETag: \"a\""), variant(2, "ETag: \"a\"", at: 9), variant(3, "ETag: \"b\"")]
    let request = CacheWorld.request(.get, "A: 1")
    #expect(confirmed(update(CacheWorld.response(304, "ETag: \"a\""), stored, to: request)) == 1)
    #expect(confirmed(update(CacheWorld.response(304, "ETag: \"b\""), stored, to: request)) == 3)
    #expect(confirmed(update(CacheWorld.response(304, "ETag: \"a\""), stored, to: CacheWorld.request())) == 2)
    let unknown = update(CacheWorld.response(304, "ETag: \"c\""), stored, to: request)
    #expect(unknown.result == .repeatUnconditionally && unknown.freshened.isEmpty && unknown.outdated.isEmpty)
  }

  @Test("A response that has gone since, or is no longer storable, does not freshen")
  func gone() {
    let stored = variant(1, "ETag: \"a\"")
    let request = CacheWorld.request(.get, "A: 1")
    let missing = update(CacheWorld.response(304, "ETag: \"a\""), [stored], to: request) { forwarded in
      forwarded = ForwardedRequest(
        request: forwarded.request, forward: forwarded.forward, stored: [], exchange: forwarded.exchange)
    }
    #expect(missing.result == .repeatUnconditionally)
    let refused = update(
      CacheWorld.response(304, "ETag: \"a\"", "Cache-Control: no-store"), [stored], to: request)
    #expect(refused.outdated == [1] && refused.freshened.isEmpty && confirmed(refused) == 1)
  }

  @Test("A 304 that changes Vary updates the response of its request and removes those of other requests")
  func changedVary() {
    let stored = [variant(1, "ETag: \"a\""), variant(2, "ETag: \"a\"")]
    let request = CacheWorld.request(.get, "A: 1", "B: 5")
    let update = update(CacheWorld.response(304, "ETag: \"a\"", "Vary: A, B"), stored, to: request)
    #expect(update.freshened.map(\.variant.values) == [["a": "1", "b": "5"]] && update.outdated == [2])
    let star = self.update(CacheWorld.response(304, "ETag: \"a\"", "Vary: *"), stored, to: request)
    #expect(star.freshened.isEmpty && star.outdated == [1, 2] && confirmed(star) == 1)
  }

  @Test("A 304 to conditions of the request is its result, and still freshens")
  func ownConditions() {
    let stored = CacheWorld.stored("ETag: \"a\"")
    let request = CacheWorld.request(.get, "If-None-Match: \"a\"")
    let update = update(CacheWorld.response(304, "ETag: \"a\"", "Cache-Control: max-age=9"), [stored], to: request)
    #expect(update.result == .received && update.freshened.first?.directives.maxAge == 9)
    let other = self.update(CacheWorld.response(304, "ETag: \"b\""), [stored], to: request)
    #expect(other.result == .received && other.freshened.isEmpty)
    // The weak tag of another variant was not named.
    let foreign = self.update(CacheWorld.response(304, "ETag: \"a\""), [variant(2, "ETag: W/\"a\"")], to: request)
    #expect(foreign.result == .received && foreign.freshened.isEmpty)
  }

  @Test("A response has the lifetime and the groups of its endpoint, and a confirmed one is valid again")
  func annotated() throws {
    let stored = CacheWorld.stored("ETag: \"a\"", "Cache-Control: max-age=60")
    let new = update(CacheWorld.response(200, "Cache-Control: max-age=60", "ETag: \"b\""), [stored]) {
      ($0.endpointLifetime, $0.endpointGroups) = (5, ["g"])
    }
    #expect(new.new?.endpointLifetime == 5 && new.new?.groups == ["g"])
    var old = stored
    old.isInvalidated = true
    let confirmed = update(CacheWorld.response(304, "ETag: \"a\""), [old]).freshened.first
    #expect(confirmed?.isInvalidated == false)
  }

  // MARK: Complete responses

  @Test("A new response replaces those that answer the same request, not other variants")
  func replacement() {
    let stored = [variant(1, "ETag: \"a\""), variant(2, "ETag: \"a\"")]
    let update = update(
      CacheWorld.response(200, "Vary: A", "Cache-Control: max-age=60"), stored, to: CacheWorld.request(.get, "A: 1"))
    #expect(update.outdated == [1] && update.new?.variant.values == ["a": "1"] && update.result == .received)
  }

  @Test(
    "A response that is not stored removes the stored one only if it shows another state",
    arguments: [
      (200, true), (204, true), (206, false), (301, true), (302, true), (304, false), (400, false), (401, false),
      (403, false), (404, true), (410, true), (416, false), (429, false), (500, false), (503, false),
    ])
  func notStored(status: Int, isRemoved: Bool) {
    let head = CacheWorld.response(status, "Cache-Control: no-store", "ETag: \"x\"")
    let update = update(head, [CacheWorld.stored("ETag: \"a\"")])
    #expect(update.new == nil && update.outdated == (isRemoved ? [1] : []), "\(status)")
  }

  @Test("A response to an earlier request does not replace that to a later one")
  func order() {
    let later = CacheWorld.stored(
      CacheWorld.response(200, "Cache-Control: max-age=5", "Date: {150}"), id: 1, at: 150)
    let update = update(CacheWorld.response(200, "Cache-Control: max-age=5", "Date: {101}"), [later]) { forwarded in
      forwarded = ForwardedRequest(
        request: forwarded.request, forward: CacheForward(reason: .uriMiss), stored: [later],
        exchange: forwarded.exchange)
    }
    #expect(update.new == nil && update.refusal == .older && update.outdated.isEmpty)
  }

  @Test("A request with no-store, or of another method, changes nothing")
  func untouched() {
    let stored = [CacheWorld.stored("ETag: \"a\"")]
    let response = CacheWorld.response(200, "Cache-Control: max-age=60")
    let bypass = update(response, stored, to: CacheWorld.request(.get, "Cache-Control: no-store"))
    #expect(bypass == CacheUpdate(refusal: .noStore))
    #expect(update(response, stored, to: CacheWorld.request(.post)) == CacheUpdate(refusal: .method))
  }

  // MARK: HEAD

  @Test(
    "A response to HEAD freshens a stored response with the same validators and length, and invalidates others",
    arguments: [
      (["ETag: \"a\"", "Content-Length: 11"], true), (["ETag: \"a\""], true), ([], true),
      (["Last-Modified: {-9}"], true), (["ETag: \"b\""], false), (["ETag: W/\"a\""], false),
      (["Last-Modified: {-8}"], false), (["Content-Length: 12"], false),
      (["ETag: \"a\"", "Content-Length: 12"], false),
    ] as [([String], Bool)])
  func head(lines: [String], isSame: Bool) {
    let stored = CacheWorld.stored("ETag: \"a\"", "Last-Modified: {-9}", "Content-Length: 11", "Kept: 1")
    let response = HTTPResponse(
      status: .ok, headerFields: CacheWorld.fields(lines + ["Cache-Control: max-age=60", "New: 1"]))
    let update = update(response, [stored], to: CacheWorld.request(.head))
    #expect(update.result == .received && update.outdated.isEmpty)
    if isSame {
      let fresh = update.freshened.first
      #expect(fresh?.fields[text: "new"] == "1" && fresh?.fields[text: "kept"] == "1" && update.new == nil, "\(lines)")
      #expect(fresh?.method == .get && update.invalidated.isEmpty)
    } else {
      #expect(update.freshened.isEmpty && update.invalidated == [1] && update.new?.method == .head, "\(lines)")
    }
  }

  @Test("A response to HEAD with another status, or without a stored response, is stored for HEAD only")
  func headAlone() {
    let stored = CacheWorld.stored("ETag: \"a\"")
    let gone = update(CacheWorld.response(410, "X: y"), [stored], to: CacheWorld.request(.head))
    #expect(gone.freshened.isEmpty && gone.invalidated.isEmpty && gone.new?.method == .head && gone.outdated.isEmpty)
    #expect(update(CacheWorld.response(200), [], to: CacheWorld.request(.head)).new?.method == .head)
    let missing = CacheWorld.stored(CacheWorld.response(404))
    let found = update(CacheWorld.response(200), [missing], to: CacheWorld.request(.head))
    #expect(found.freshened.isEmpty && found.invalidated == [1])
  }

  @Test("The length of decoded content is not compared with that of a response to HEAD")
  func decoded() {
    var stored = CacheWorld.stored("ETag: \"a\"")
    let head = CacheWorld.response(200, "ETag: \"a\"", "Content-Length: 5")
    #expect(update(head, [stored], to: CacheWorld.request(.head)).invalidated == [1])
    stored.servesRanges = false
    #expect(update(head, [stored], to: CacheWorld.request(.head)).freshened.count == 1)
  }
}

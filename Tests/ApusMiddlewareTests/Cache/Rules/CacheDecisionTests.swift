import HTTPTypes
import Testing

@testable import ApusCore
@testable import ApusMiddleware

@Suite("Cache decisions (RFC 9111 §4)")
struct CacheDecisionTests {
  /// The kind of a decision, for tables.
  enum Kind: Hashable, Sendable {
    case fresh
    case stale
    case background
    case forward(CacheStatus.Forward)
    case unsatisfiable
  }

  static func kind(_ decision: CacheDecision) -> Kind {
    switch decision {
    case .use(let hit): hit.freshness.isFresh ? .fresh : .stale
    case .useAndRevalidate: .background
    case .forward(let forward): .forward(forward.reason)
    case .unsatisfiable: .unsatisfiable
    }
  }

  private func kind(_ stored: String, age: Int64, _ request: CacheRequest = CacheWorld.request()) -> Kind {
    let stored = CacheWorld.stored("Cache-Control: \(stored)", "ETag: \"a\"")
    return Self.kind(CacheRules().decision(for: request, among: [stored], at: CacheWorld.at(age)))
  }

  @Test(
    "A response is used by its directives and its age",
    arguments: [
      ("max-age=60", 59, .fresh), ("max-age=60", 60, .forward(.stale)), ("max-age=0", 0, .forward(.stale)),
      ("max-age=60, no-cache", 5, .forward(.stale)), ("max-age=60, must-revalidate", 5, .fresh),
      ("max-age=60, must-revalidate", 61, .forward(.stale)), ("max-age=60, no-cache=\"x\"", 5, .fresh),
      ("max-age=60, stale-while-revalidate=30", 59, .fresh), ("max-age=60, stale-while-revalidate=30", 61, .background),
      ("max-age=60, stale-while-revalidate=30", 90, .background),
      ("max-age=60, stale-while-revalidate=30", 91, .forward(.stale)),
      ("max-age=60, stale-while-revalidate=30, must-revalidate", 61, .forward(.stale)),
      ("max-age=60, stale-while-revalidate=30, no-cache", 61, .forward(.stale)),
      ("max-age=60, stale-while-revalidate=x", 61, .forward(.stale)), ("stale-while-revalidate=30", 29, .background),
      ("max-age=60, stale-if-error=30", 61, .forward(.stale)), ("max-age=60, immutable", 61, .forward(.stale)),
      ("max-age=60, stale-while-revalidate=99999999999", 2_000_000_000, .background), ("public", 5, .forward(.stale)),
    ] as [(String, Int64, Kind)])
  func responses(control: String, age: Int64, expected: Kind) {
    #expect(kind(control, age: age) == expected, "\(control) \(age)")
  }

  @Test(
    "The directives of a request restrict or extend the use (RFC 9111 §5.2.1, RFC 8246 §2)",
    arguments: [
      ("max-age=100", "max-age=0", 0, .forward(.request)), ("max-age=100", "max-age=5", 5, .fresh),
      ("max-age=100", "max-age=5", 6, .forward(.request)), ("max-age=100", "max-age=x", 1, .forward(.request)),
      ("max-age=100, immutable", "max-age=0", 5, .fresh), ("max-age=100, immutable", "no-cache", 5, .forward(.request)),
      ("max-age=100, immutable", "max-age=0", 101, .forward(.request)),
      ("max-age=100, immutable", "max-age=5", 6, .forward(.request)),
      ("max-age=100", "no-cache", 5, .forward(.request)), ("max-age=100", "no-store", 5, .forward(.bypass)),
      ("max-age=100", "min-fresh=95", 5, .fresh), ("max-age=100", "min-fresh=96", 5, .forward(.request)),
      ("max-age=100", "max-stale", 1_000_000, .stale), ("max-age=100", "max-stale=10", 110, .stale),
      ("max-age=100", "max-stale=10", 111, .forward(.stale)), ("max-age=100", "max-stale=x", 101, .forward(.stale)),
      ("max-age=100, must-revalidate", "max-stale", 101, .forward(.stale)),
      ("max-age=100, no-cache", "max-stale", 5, .forward(.stale)),
      ("max-age=100", "max-stale, max-age=200", 150, .stale),
      ("max-age=100", "max-stale, max-age=120", 150, .forward(.request)),
      ("max-age=100", "max-stale=50, min-fresh=0", 101, .forward(.request)),
      ("max-age=100, stale-while-revalidate=50", "max-age=200", 110, .forward(.stale)),
      ("max-age=100, stale-while-revalidate=50", "min-fresh=1", 110, .forward(.request)),
      ("max-age=100, stale-while-revalidate=50", "no-cache", 110, .forward(.request)),
      ("max-age=100", "only-if-cached", 5, .fresh), ("max-age=100", "only-if-cached", 101, .unsatisfiable),
      ("max-age=100", "only-if-cached, max-stale", 101, .stale),
      ("max-age=100, no-cache", "only-if-cached", 5, .unsatisfiable),
      ("max-age=100, stale-while-revalidate=50", "only-if-cached", 110, .stale),
      ("max-age=100", "only-if-cached, no-store", 5, .unsatisfiable), ("max-age=100", "x, y=z", 5, .fresh),
    ] as [(String, String, Int64, Kind)])
  func requests(control: String, directives: String, age: Int64, expected: Kind) {
    let request = CacheWorld.request(.get, "Cache-Control: \(directives)")
    #expect(kind(control, age: age, request) == expected, "\(control) | \(directives) | \(age)")
  }

  @Test("Without a stored response the request is forwarded, or a 504 with only-if-cached")
  func empty() {
    let rules = CacheRules()
    let now = CacheWorld.at(0)
    #expect(Self.kind(rules.decision(for: CacheWorld.request(), among: [], at: now)) == .forward(.uriMiss))
    let cached = "Cache-Control: only-if-cached"
    for method in [HTTPRequest.Method.get, .head, .post] {
      let request = CacheWorld.request(method, cached)
      #expect(rules.decision(for: request, among: [], at: now) == .unsatisfiable)
    }
    #expect(Self.kind(rules.decision(for: CacheWorld.request(.post), among: [], at: now)) == .forward(.method))
  }

  @Test("An invalidated or incomplete response is never used without its server")
  func unusable() {
    var stored = CacheWorld.stored("Cache-Control: max-age=60, stale-while-revalidate=60", "ETag: \"a\"")
    stored.isInvalidated = true
    for lines in [[], ["Cache-Control: max-stale"]] {
      let head = HTTPRequest(
        method: .get, scheme: "https", authority: "a.example", path: "/", headerFields: CacheWorld.fields(lines))
      let decision = CacheRules().decision(for: CacheRequest(head), among: [stored], at: CacheWorld.at(5))
      #expect(decision.hit == nil && decision.request?.conditions[.ifNoneMatch] == "\"a\"")
    }
    stored.isInvalidated = false
    stored.isComplete = false
    let decision = CacheRules().decision(for: CacheWorld.request(), among: [stored], at: CacheWorld.at(5))
    #expect(decision.hit == nil && decision.request?.conditions == [:])
  }

  @Test("HEAD is answered by a response to GET, GET never by a response to HEAD (RFC 9110 §9.3.2)")
  func head() {
    let control = "Cache-Control: max-age=60"
    let get = CacheWorld.stored(control, id: 1)
    let head = CacheWorld.stored(CacheWorld.response(200, control), id: 2, to: CacheWorld.request(.head), at: 1)
    let query = CacheWorld.stored(
      CacheWorld.response(200, control), id: 3, to: CacheWorld.request(HTTPRequest.Method("QUERY") ?? .get))
    func hit(_ method: HTTPRequest.Method, _ stored: StoredResponse...) -> CacheHit? {
      CacheRules().decision(for: CacheWorld.request(method), among: stored, at: CacheWorld.at(5)).hit
    }
    #expect(hit(.head, get)?.form == .head && hit(.head, head)?.form == .head && hit(.head, query) == nil)
    #expect(hit(.get, head) == nil && hit(.get, query) == nil && hit(.get, get, head)?.stored.id == 1)
    #expect(hit(.head, get, head)?.stored.id == 2)
    // Ranges have a meaning for GET only (RFC 9110 §14.2).
    let ranged = CacheWorld.request(.head, "Range: bytes=0-1")
    #expect(CacheRules().decision(for: ranged, among: [get], at: CacheWorld.at(5)).hit?.form == .head)
  }

  // MARK: Validation

  private func conditions(_ stored: StoredResponse..., request: CacheRequest = CacheWorld.request()) -> HTTPFields? {
    CacheRules().decision(for: request, among: stored, at: CacheWorld.at(100)).request?.conditions
  }

  @Test("A stale response is validated by its tag, or else by its date (RFC 9111 §4.3.1)")
  func validators() {
    #expect(conditions(CacheWorld.stored("ETag: \"a\"", "Last-Modified: {-9}")) == [.ifNoneMatch: "\"a\""])
    #expect(conditions(CacheWorld.stored("ETag: W/\"a\"")) == [.ifNoneMatch: "W/\"a\""])
    let date = CacheWorld.date(-9)
    #expect(conditions(CacheWorld.stored("Last-Modified: {-9}")) == [.ifModifiedSince: date])
    #expect(conditions(CacheWorld.stored("ETag: a", "Last-Modified: {-9}")) == [.ifModifiedSince: date])
    for line in ["ETag: a", "ETag: w/\"a\"", "ETag: W\"a\"", "ETag: \"a", "Last-Modified: 0", "X: y"] {
      #expect(conditions(CacheWorld.stored(line)) == [:], "\(line)")
    }
    #expect(conditions(CacheWorld.stored(CacheWorld.response(301, "ETag: \"a\""))) == [:])
  }

  @Test("The tags of all variants are sent once each, that of the selected response first")
  func variants() {
    let other = CacheWorld.stored(
      CacheWorld.response(200, "Vary: A", "ETag: \"b\""), id: 1, to: CacheWorld.request(.get, "A: 2"))
    let same = CacheWorld.stored(
      CacheWorld.response(200, "Vary: A", "ETag: \"b\""), id: 2, to: CacheWorld.request(.get, "A: 3"))
    let selected = CacheWorld.stored(
      CacheWorld.response(200, "Vary: A", "ETag: \"a\""), id: 3, to: CacheWorld.request(.get, "A: 1"))
    let request = CacheWorld.request(.get, "A: 1")
    let now = CacheWorld.at(100)
    let forward = CacheRules().decision(for: request, among: [other, same, selected], at: now).request
    #expect(forward?.conditions == [.ifNoneMatch: "\"a\", \"b\""])
    #expect(forward?.selected == 3 && Set(forward?.candidates ?? []) == [1, 2, 3] && forward?.reason == .stale)
    let missed = CacheRules().decision(for: CacheWorld.request(), among: [other, same], at: now).request
    #expect(missed?.conditions == [.ifNoneMatch: "\"b\""] && missed?.reason == .varyMiss && missed?.selected == nil)
    let many = (0..<40).map { index in
      CacheWorld.stored(
        CacheWorld.response(200, "Vary: A", "ETag: \"\(index)\""), id: UInt64(index + 1),
        to: CacheWorld.request(.get, "A: \(index)"))
    }
    let limited = CacheRules().decision(for: request, among: many, at: now).request
    #expect(limited?.candidates.count == CacheRules.maximumTags && limited?.candidates.first == 2)
  }

  @Test("A weak tag is sent for the selected response alone, because variants with other codings may share it")
  func weakVariants() {
    func variant(_ id: UInt64, _ coding: String, _ tag: String) -> StoredResponse {
      CacheWorld.stored(
        CacheWorld.response(200, "Vary: Accept-Encoding", "ETag: \(tag)"), id: id,
        to: CacheWorld.request(.get, "Accept-Encoding: \(coding)"))
    }
    func forward(_ coding: String, _ stored: StoredResponse...) -> CacheForward? {
      CacheRules().decision(
        for: CacheWorld.request(.get, "Accept-Encoding: \(coding)"), among: stored, at: CacheWorld.at(100)
      ).request
    }
    let coded = variant(1, "gzip", "W/\"a\"")
    let missed = forward("identity", coded)
    #expect(missed?.reason == .varyMiss && missed?.conditions == [:] && missed?.candidates == [])
    #expect(forward("gzip", coded)?.conditions == [.ifNoneMatch: "W/\"a\""])
    let both = forward("gzip", coded, variant(2, "identity", "\"a\""))
    #expect(both?.conditions == [.ifNoneMatch: "W/\"a\", \"a\""] && both?.candidates == [1, 2])
    let plain = forward("identity", coded, variant(2, "identity", "W/\"a\""))
    #expect(plain?.conditions == [.ifNoneMatch: "W/\"a\""] && plain?.candidates == [2])
  }

  // MARK: Conditions of the request

  @Test(
    "Conditions of a request are evaluated for a fresh response only (RFC 9111 §4.3.2)",
    arguments: [
      (["If-None-Match: \"a\""], true), (["If-None-Match: W/\"a\""], true), (["If-None-Match: *"], true),
      (["If-None-Match: \"x\", \"a\", \"y\""], true), (["If-None-Match: \"x\\\", \"a\""], true),
      (["If-None-Match: \"x\"", "If-None-Match: \"a\""], true),
      (["If-None-Match: \"x\""], false), (["If-None-Match: a"], false), (["If-None-Match: \"x,\"a\""], false),
      (["If-None-Match: \"x\"", "If-Modified-Since: {500}"], false),
      (["If-None-Match: \"a\"", "If-Modified-Since: {-5000}"], true),
      (["If-Modified-Since: {-100}"], true), (["If-Modified-Since: {-50}"], true),
      (["If-Modified-Since: {-101}"], false), (["If-Modified-Since: x"], false),
    ] as [([String], Bool)])
  func conditional(lines: [String], isNotModified: Bool) {
    let head = HTTPRequest(
      method: .get, scheme: "https", authority: "a.example", path: "/", headerFields: CacheWorld.fields(lines))
    let request = CacheRequest(head)
    let stored = CacheWorld.stored("Cache-Control: max-age=60", "ETag: \"a\"", "Last-Modified: {-100}")
    let fresh = CacheRules().decision(for: request, among: [stored], at: CacheWorld.at(5))
    #expect(fresh.hit?.form == (isNotModified ? .notModified : .whole), "\(lines)")
    let stale = CacheRules().decision(for: request, among: [stored], at: CacheWorld.at(61))
    #expect(stale.hit == nil && stale.request?.conditions == [:])
  }

  @Test("If-Modified-Since is compared with Date if the stored response has no modification date")
  func missingModificationDate() {
    let stored = CacheWorld.stored("Cache-Control: max-age=60", "Date: {-10}")
    for (limit, form) in [(-10, .notModified), (-11, .whole)] as [(Int, CacheHit.Form)] {
      let request = CacheWorld.request(.get, "If-Modified-Since: {\(limit)}")
      #expect(CacheRules().decision(for: request, among: [stored], at: CacheWorld.at(5)).hit?.form == form)
    }
  }

  @Test("If-Match and If-Unmodified-Since are for the server, and an error is never turned into a 304")
  func serverConditions() {
    let stored = CacheWorld.stored("Cache-Control: max-age=60", "ETag: \"a\"")
    for line in ["If-Match: \"a\"", "If-Unmodified-Since: {0}"] {
      let decision = CacheRules().decision(
        for: CacheWorld.request(.get, line), among: [stored], at: CacheWorld.at(5))
      #expect(decision.request?.reason == .request && decision.request?.conditions == [:])
    }
    let missing = CacheWorld.stored(CacheWorld.response(404, "Cache-Control: max-age=60", "ETag: \"a\""))
    let request = CacheWorld.request(.get, "If-None-Match: \"a\"")
    #expect(CacheRules().decision(for: request, among: [missing], at: CacheWorld.at(5)).hit?.form == .whole)
  }

  // MARK: Result

  @Test("The result has the stored fields and the current Age; Date stays (RFC 9111 §4, §5.1)")
  func heads() throws {
    let stored = CacheWorld.stored(
      "Cache-Control: max-age=60", "Age: 3", "Date: {0}", "Content-Type: a/b", "ETag: \"a\"")
    let now = CacheWorld.at(5)
    let head = try #require(CacheRules().decision(for: CacheWorld.request(), among: [stored], at: now).hit?.head)
    #expect(head.status == .ok && head.headerFields[.age] == "8" && head.headerFields[.date] == CacheWorld.date(0))
    #expect(head.headerFields[fields: .age].count == 1)
    let request = CacheWorld.request(.get, "If-None-Match: \"a\"")
    let short = try #require(CacheRules().decision(for: request, among: [stored], at: now).hit?.head)
    #expect(short.status == .notModified && short.headerFields[.eTag] == "\"a\"")
    #expect(short.headerFields[.contentType] == nil && short.headerFields[.cacheControl] == "max-age=60")
  }

  @Test("A hit tells the remaining lifetime, unless its age is unknown, and whether it is stale")
  func statuses() throws {
    let stored = CacheWorld.stored("Cache-Control: max-age=60")
    func status(_ seconds: Int64) throws -> CacheStatus {
      let request = CacheWorld.request(.get, "Cache-Control: max-stale")
      let decision = CacheRules().decision(for: request, among: [stored], at: CacheWorld.at(seconds))
      return try #require(decision.hit).cacheStatus
    }
    let (fresh, stale, unknown) = (try status(5), try status(70), try status(-5))
    #expect(fresh.description == "Apus; hit; ttl=55" && !fresh.isStale)
    #expect(stale.description == "Apus; hit; ttl=-10" && stale.isStale)
    #expect(unknown.description == "Apus; hit" && unknown.isStale)
  }
}

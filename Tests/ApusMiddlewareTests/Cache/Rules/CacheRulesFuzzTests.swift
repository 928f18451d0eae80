import ApusTesting
import HTTPTypes
import TestSupport
import Testing

@testable import ApusCore
@testable import ApusMiddleware

/// Random fields, clocks and stored responses against rules that are stated a second time, one by one.
@Suite("Cache rules: random input")
struct CacheRulesFuzzTests {
  private struct Source {
    private static let numbers = [
      "0", "1", "5", "30", "60", "3600", "2147483648", "9223372036854775807", "99999999999999999999999", "-1", "x", "",
      "\"5\"",
      "\"", "5 ",
    ]
    private static let directives = [
      "max-age", "s-maxage", "stale-while-revalidate", "stale-if-error", "min-fresh", "max-stale", "no-cache",
      "no-store",
      "must-revalidate", "must-understand", "public", "private", "immutable", "only-if-cached", "x",
    ]
    private static let dates = ["{-100000}", "{-50}", "{0}", "{40}", "{100000}", "0", "x", "{5}, {6}"]
    private static let tags = ["\"a\"", "\"b\"", "W/\"a\"", "a", "\"a", "*", "\"a\", \"b\"", ""]

    var generator: SeededGenerator

    mutating func pick(_ values: [String]) -> String { values.randomElement(using: &generator) ?? "" }

    mutating func control() -> String {
      let parts = (0..<Int.random(in: 0...3, using: &generator)).map { _ in
        let name = pick(Self.directives)
        return Bool.random(using: &generator) ? name : "\(name)=\(pick(Self.numbers))"
      }
      return "Cache-Control: " + parts.joined(separator: pick([",", ", ", " , "]))
    }

    /// Returns one of `rarity` candidates on average.
    mutating func lines(_ rarity: Int, _ candidates: [String]) -> [String] {
      candidates.filter { _ in isRare(rarity) }
    }

    mutating func isRare(_ rarity: Int) -> Bool { Int.random(in: 0..<rarity, using: &generator) == 0 }

    mutating func request() -> CacheRequest {
      let method = ["GET", "GET", "GET", "HEAD", "QUERY", "POST"].randomElement(using: &generator) ?? "GET"
      let fields = lines(
        7,
        [
          control(), "Pragma: no-cache", "A: \(pick(["1", "2", ""]))", "B: 1",
          "Range: bytes=\(pick(["0-1", "-5", "9-", "x"]))",
          "If-None-Match: \(pick(Self.tags))", "If-Modified-Since: \(pick(Self.dates))", "If-Range: \(pick(Self.tags))",
          "If-Match: \(pick(Self.tags))",
        ])
      let head = HTTPRequest(
        method: HTTPRequest.Method(method) ?? .get, scheme: "https", authority: "a.example", path: "/",
        headerFields: CacheWorld.fields(fields))
      var request = CacheRequest(head)
      request.allowedStaleness = [nil, 0, 50, .max, .min].randomElement(using: &generator) ?? nil
      return request
    }

    mutating func instant() -> CacheInstant {
      let seconds = [-100, 0, 0, 0, 3, 30, 59, 60, 61, 5000].randomElement(using: &generator) ?? 0
      switch Int.random(in: 0..<20, using: &generator) {
      case 0: return CacheInstant(wall: .min, monotonic: .max)
      case 1: return CacheInstant(wall: .max, monotonic: .min)
      case 2: return CacheInstant(wall: .random(in: .min ... .max, using: &generator))
      case 3...9: return CacheWorld.at(Int64(seconds), monotonic: Int64(seconds))
      default: return CacheWorld.at(Int64(seconds))
      }
    }

    mutating func response() -> HTTPResponse {
      let status =
        [200, 200, 200, 200, 200, 204, 206, 301, 304, 304, 404, 500, 503].randomElement(using: &generator) ?? 200
      let usual = [
        "Cache-Control: max-age=\(pick(["1", "60", "3600"]))\(pick(["", ", stale-while-revalidate=60", ", immutable"]))",
        "ETag: \(pick(Self.tags))", "Last-Modified: \(pick(Self.dates))", "Vary: \(pick(["A", "A, B", "*", ""]))",
      ]
      let odd = [
        control(), "Expires: \(pick(Self.dates))", "Date: \(pick(Self.dates))", "Age: \(pick(Self.numbers))",
        "Pragma: no-cache", "Content-Length: \(pick(Self.numbers))", "Set-Cookie: a=b",
        "Cache-Groups: \(pick(Self.tags))", "Connection: ETag, x",
      ]
      let fields = CacheWorld.fields(lines(2, usual) + lines(7, odd))
      return HTTPResponse(status: .init(code: status), headerFields: fields)
    }

    mutating func stored(_ id: UInt64) -> StoredResponse {
      var request = request()
      while !request.isCacheable { request = self.request() }
      let exchange = CacheExchange(requestTime: instant(), responseTime: instant())
      var stored = StoredResponse(response(), to: request, during: exchange)
      stored.id = id
      stored.contentLength = [nil, 0, 1, 11, .max].randomElement(using: &generator) ?? nil
      stored.endpointLifetime = [nil, nil, 0, 60, .max, .min].randomElement(using: &generator) ?? nil
      stored.isComplete = !isRare(8)
      stored.isInvalidated = isRare(8)
      stored.servesRanges = Bool.random(using: &generator)
      return stored
    }
  }

  /// Returns the rules that a decision to use a response breaks.
  private func violations(
    _ hit: CacheHit, _ request: CacheRequest, _ now: CacheInstant, isInBackground: Bool
  ) -> [String] {
    let (stored, asked) = (hit.stored, request.directives)
    let says = stored.directives
    let hasIfRange = request.fields[.ifRange] != nil
    let isStale = hit.freshness.age >= hit.freshness.lifetime
    let rules = [
      ("complete", stored.isComplete), ("valid", !stored.isInvalidated), ("no-cache", !says.noCache),
      ("requested no-cache", !asked.noCache), ("no-store", !asked.noStore),
      ("method", stored.method == request.method || (stored.method == .get && request.method == .head)),
      ("variant", stored.variant.matches(request.fields, seal: request.seal)),
      ("must-revalidate", !isStale || !says.mustRevalidate),
      ("stale", !isStale || isInBackground || asked.maxStale != nil || asked.onlyIfCached),
      ("background", !isInBackground || (isStale && says.staleWhileRevalidate != nil)),
      ("max-age=0", asked.maxAge != 0 || says.isImmutable),
      ("server", request.fields[.ifMatch] == nil && request.isCacheable),
      ("range", hit.form != .whole || request.range == nil || hasIfRange || stored.status != .ok),
    ]
    return rules.compactMap { $0.1 ? nil : $0.0 }
  }

  @Test("No decision uses a response that must not be used, and no input traps", arguments: 0..<20)
  func decisions(seed: UInt64) {
    var source = Source(generator: SeededGenerator(seed: seed))
    var counts = (hits: 0, background: 0, stale: 0, confirmed: 0)
    let rounds = fuzzRounds(usually: 200)
    for _ in 0..<rounds {
      let stored = (1...4).map { source.stored($0) }
      let (request, now) = (source.request(), source.instant())
      let rules = CacheRules(heuristicFreshness: Bool.random(using: &source.generator))
      let decision = rules.decision(for: request, among: stored, at: now)
      if let hit = decision.hit {
        counts.hits += 1
        counts.background += decision.isInBackground ? 1 : 0
        let broken = violations(hit, request, now, isInBackground: decision.isInBackground)
        #expect(broken.isEmpty, "\(broken) seed \(seed)")
        _ = (hit.head, hit.cacheStatus.description)
      }
      if request.directives.onlyIfCached { #expect(decision.request == nil) }
      if let stale = rules.staleHit(after: .offline, to: request, among: stored, at: now) {
        counts.stale += 1
        #expect(!stale.stored.isInvalidated && !stale.stored.directives.noCache && stale.stored.isComplete)
        #expect(!stale.stored.directives.mustRevalidate && !request.directives.noCache)
      }
      guard let forward = decision.request else { continue }
      let exchange = CacheExchange(requestTime: now, responseTime: source.instant())
      let forwarded = ForwardedRequest(request: request, forward: forward, stored: stored, exchange: exchange)
      var response = source.response()
      if Bool.random(using: &source.generator) { response.status = .notModified }
      let update = rules.update(after: response, to: forwarded)
      counts.confirmed += update.freshened.count
      check(update, response, forwarded, rules)
    }
    if rounds >= 200 { #expect(counts.hits > 0 && counts.stale > 0) }
  }

  /// Checks what holds for every update.
  private func check(
    _ update: CacheUpdate, _ response: HTTPResponse, _ forwarded: ForwardedRequest, _ rules: CacheRules
  ) {
    let known = Set(forwarded.stored.map(\.id))
    #expect(update.outdated.isSubset(of: known) && update.invalidated.isSubset(of: known))
    #expect(update.outdated.isDisjoint(with: update.freshened.map(\.id)))
    for stored in update.freshened + (update.new.map { [$0] } ?? []) {
      #expect(rules.refusal(toStore: stored, for: forwarded.request) == nil)
      #expect(stored.fields[.setCookie] == nil && !stored.variant.isUnmatchable)
    }
    if response.status == .notModified { #expect(update.new == nil) }
    if case .stored = update.result { #expect(!forwarded.forward.conditions.isEmpty) }
    if case .repeatUnconditionally = update.result { #expect(!forwarded.forward.conditions.isEmpty) }
  }

  @Test("Random bytes in the fields never trap", arguments: 0..<20)
  func bytes(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let alphabet = Array("\",= \t\\aB1/*;W-bytes=max-age".utf8) + [0x80, 0xFF, 0xC3]
    for _ in 0..<fuzzRounds(usually: 200) {
      let count = Int.random(in: 0...60, using: &generator)
      let text = (0..<count).map { _ in alphabet.randomElement(using: &generator) ?? 0 }
      _ = FieldList.elements(of: text[...], allowsEscapes: true)
      _ = (FieldList.unquoted(text[...]), EntityTag(text[...]), CacheControl.seconds(text))
      let value = String(decoding: text, as: UTF8.self)
      _ = (RangeRequest(value).part(of: 100), EntityTagList(value), CacheGroups.groups(in: value))
      let names = ["Cache-Control", "Vary", "Connection", "ETag", "Age", "Expires"]
      let fields = CacheWorld.fields(names.map { "\($0): \(value)" })
      let stored = CacheWorld.stored(HTTPResponse(status: .ok, headerFields: fields))
      _ = CacheRules().decision(for: CacheWorld.request(), among: [stored], at: CacheWorld.at(1))
    }
  }
}

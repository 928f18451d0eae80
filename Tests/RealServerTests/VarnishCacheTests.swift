#if os(Linux)
import Apus
import Foundation
import Testing

/// varnish, a shared cache between the client and nginx: ages, and validators of its own.
@Suite("A cache and varnish", .needs(.nginx), .needs(.varnish))
struct VarnishCacheTests {
  private let text = (0..<100).map { "line \($0) of a text that is worth compressing\n" }.joined()

  @Test(
    "A fresh response is used without a request, and varnish confirms a stale one itself",
    arguments: CacheOrigin.varnishes)
  func validation(origin: CacheOrigin) async throws {
    try await CachedFile.with(text, at: origin) { file in
      let first = try await file.get("minute")
      #expect(first.decision == "Apus; fwd=uri-miss; stored" && first.value.string == text)
      #expect(first.protocolVersion == origin.httpVersion && first.field("X-Cache") == "miss")
      let second = try await file.get("minute")
      #expect(second.decision.hasPrefix("Apus; hit; ttl=") && second.value.string == text)
      // Each response of varnish has another number.
      #expect(second.field("X-Varnish") == first.field("X-Varnish"))
      file.advance(seconds: 61)
      let third = try await file.get("minute")
      #expect(third.decision.hasPrefix("Apus; fwd=stale; fwd-status=304; ttl="))
      #expect(third.value.string == text && third.status == 200)
      #expect(third.field("X-Varnish") != first.field("X-Varnish") && third.field("X-Cache") == "hit")
      try await file.expectRequests(["GET 200"], in: "minute")
    }
  }

  @Test(
    "The time that a response has spent in other caches counts against its lifetime", arguments: CacheOrigin.varnishes)
  func ages(origin: CacheOrigin) async throws {
    try await CachedFile.with(text, at: origin) { file in
      let first = try await file.get("aged")
      let age = try #require(first.field("Age").flatMap { Int($0) })
      #expect((40..<60).contains(age))
      let second = try await file.get("aged")
      #expect(second.decision == "Apus; hit; ttl=\(60 - age)" && second.field("Age") == "\(age)")
      file.advance(seconds: 60 - age)
      let third = try await file.get("aged")
      #expect(third.decision.hasPrefix("Apus; fwd=stale; fwd-status=304; ttl="))
      // The age of the 304, not the sum of both.
      #expect(try #require(third.field("Age").flatMap { Int($0) }) < 60)
      try await file.expectRequests(["GET 200"], in: "aged")
    }
  }

  @Test("A response that varnish uses past its lifetime is stale here as well, and is used while it is validated")
  func grace() async throws {
    try await CachedFile.with(text, at: .varnish) { file in
      #expect(try await file.get("overdue").decision == "Apus; fwd=uri-miss; stored")
      let stale = try await file.get("overdue")
      #expect(stale.cacheStatus?.isStale == true && stale.value.string == text)
      #expect(stale.decision.hasPrefix("Apus; hit; ttl=-1"))
      // varnish confirms it from its store, and then asks nginx.
      try await file.expectRequests(["GET 200", "GET 304"], in: "overdue")
    }
  }

  @Test(
    "Compressed content that varnish stores is decoded once, also after a 304 that names its coding",
    arguments: CacheOrigin.varnishes)
  func zipped(origin: CacheOrigin) async throws {
    try await CachedFile.with(text, at: origin) { file in
      for isStale in [false, true] {
        let response = try await file.get("zipped")
        #expect(response.value.string == text && response.field("Content-Encoding") == nil)
        #expect(response.field("Vary") == "Accept-Encoding" && response.field("ETag")?.hasPrefix("W/") == true)
        #expect(response.decision.contains("fwd-status=304") == isStale)
        #expect(try await file.get("zipped").decision.hasPrefix("Apus; hit"))
        file.advance(seconds: 61)
      }
      try await file.expectRequests(["GET 200"], in: "zipped")
    }
  }

  @Test("Variants with the same weak tag are confirmed one by one")
  func variants() async throws {
    try await CachedFile.with(text, at: .varnish) { file in
      func get(_ coding: String) async throws -> Response<Content> {
        try await file.get("zipped") { $0.field("Accept-Encoding", coding) }
      }
      for isStale in [false, true] {
        let (coded, plain) = (try await get("gzip"), try await get("identity"))
        #expect(coded.field("Content-Encoding") == "gzip" && coded.value.data.starts(with: [0x1F, 0x8B]))
        #expect(plain.field("Content-Encoding") == nil && plain.value.string == text)
        #expect(coded.field("ETag") == plain.field("ETag"))
        for response in [coded, plain] { #expect(response.decision.contains("fwd-status=304") == isStale) }
        file.advance(seconds: 61)
      }
      try await file.expectRequests(["GET 200"], in: "zipped")
    }
  }

  @Test("A response with a cookie, which varnish does not store, is stored here without the cookie")
  func passed() async throws {
    try await CachedFile.with(text, at: .varnish) { file in
      for _ in 0..<2 {
        let response = try await file.other.response(to: file.request(in: "personal"))
        #expect(response.field("X-Cache") == "pass" && response.field("Set-Cookie") != nil)
      }
      let (first, second) = (try await file.get("personal"), try await file.get("personal"))
      #expect(first.field("Set-Cookie") != nil && second.field("Set-Cookie") == nil)
      #expect(second.decision.hasPrefix("Apus; hit") && second.value.string == text)
      try await file.expectRequests(["GET 200", "GET 200", "GET 200"], in: "personal")
    }
  }

  @Test("PURGE invalidates here what it removes from varnish", arguments: CacheOrigin.varnishes)
  func purge(origin: CacheOrigin) async throws {
    try await CachedFile.with(text, at: origin) { file in
      _ = try await file.get("minute")
      // varnish passes PUT on, and keeps what it has stored.
      let put = file.request(.put, in: "minute").content(.bytes(Data("changed".utf8)))
      #expect(try await file.api.response(to: put).status == 204)
      let kept = try await file.get("minute")
      #expect(kept.decision == "Apus; fwd=uri-miss; stored" && kept.value.string == text)
      #expect(kept.field("X-Cache") == "hit")
      #expect(
        try await file.api.response(to: file.request(.init(rawValue: "PURGE") ?? .get, in: "minute")).status == 200)
      let changed = try await file.get("minute")
      #expect(changed.decision == "Apus; fwd=uri-miss; stored" && changed.value.string == "changed")
      #expect(changed.field("X-Cache") == "miss")
      try await file.expectRequests(["GET 200", "PUT 204", "GET 200"], in: "minute")
    }
  }

  @Test("A range of what varnish stores passes through, and is answered here from the whole")
  func ranges() async throws {
    try await CachedFile.with(text, at: .varnish) { file in
      let part = String(text.dropFirst(10).prefix(10))
      for isStored in [false, true] {
        let response = try await file.get("minute") { $0.field("Range", "bytes=10-19") }
        #expect(response.status == 206 && response.value.string == part)
        #expect(response.decision.hasPrefix("Apus; hit") == isStored)
        #expect(try await file.get("minute").value.string == text)
      }
    }
  }

  @Test("A stale response is used if varnish does not reach its origin", arguments: CacheOrigin.varnishes)
  func unreachable(origin: CacheOrigin) async throws {
    try await CachedFile.with(text, at: origin) { file in
      for folder in ["lenient", "strict"] { _ = try await file.get(folder) }
      file.advance(seconds: 61)
      let stale = try await file.get("lenient") { $0.field("X-Fail", "1") }
      #expect(stale.decision.hasPrefix("Apus; fwd=stale; fwd-status=503; ttl=-"))
      #expect(stale.decision.hasSuffix("detail=stale-if-error") && stale.value.string == text)
      #expect(try await file.get("strict") { $0.field("X-Fail", "1") }.status == 503)
    }
  }
}
#endif

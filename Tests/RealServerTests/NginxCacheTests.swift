#if os(Linux)
import Apus
import Foundation
import Testing

/// nginx with files: its validators, lifetimes and content codings.
@Suite("A cache and nginx", .needs(.nginx))
struct NginxCacheTests {
  private let text = (0..<100).map { "line \($0) of a text that is worth compressing\n" }.joined()

  // MARK: Lifetimes and validators

  @Test(
    "A fresh response is used without a request, over both protocols and transports", arguments: CacheOrigin.nginxes)
  func hit(origin: CacheOrigin) async throws {
    try await CachedFile.with(text, at: origin) { file in
      let first = try await file.get("minute")
      #expect(first.decision == "Apus; fwd=uri-miss; stored" && first.value.string == text)
      if origin != .nginxOverURLSession { #expect(first.protocolVersion == origin.httpVersion) }
      file.advance(seconds: 59)
      let second = try await file.get("minute")
      #expect(second.decision == "Apus; hit; ttl=1" && second.value.string == text)
      #expect(second.field("Age") == "59" && second.field("ETag") == first.field("ETag"))
      try await file.expectRequests(["GET 200"], in: "minute")
    }
  }

  @Test(
    "A stale response is confirmed by its entity tag or its date, and is fresh again",
    arguments: CacheOrigin.nginxes, ["minute", "dated"])
  func validation(origin: CacheOrigin, folder: String) async throws {
    try await CachedFile.with(text, at: origin) { file in
      let first = try await file.get(folder)
      #expect((first.field("ETag") == nil) == (folder == "dated"))
      file.advance(seconds: 61)
      let second = try await file.get(folder)
      #expect(second.decision == "Apus; fwd=stale; fwd-status=304; ttl=60; stored")
      #expect(second.status == 200 && second.value.string == text)
      #expect(second.field("Content-Type") == first.field("Content-Type"))
      file.advance(seconds: 50)
      #expect(try await file.get(folder).decision == "Apus; hit; ttl=10")
      try await file.expectRequests(["GET 200", "GET 304"], in: folder)
    }
  }

  @Test("A file that has changed replaces the stale response", arguments: CacheOrigin.nginxes)
  func change(origin: CacheOrigin) async throws {
    try await CachedFile.with(text, at: origin) { file in
      _ = try await file.get("minute")
      try await file.write("changed")
      #expect(try await file.get("minute").value.string == text)
      file.advance(seconds: 61)
      let changed = try await file.get("minute")
      #expect(changed.decision == "Apus; fwd=stale; stored" && changed.value.string == "changed")
      #expect(try await file.get("minute").value.string == "changed")
      try await file.expectRequests(["GET 200", "GET 200"], in: "minute")
    }
  }

  @Test("What nginx says about caching decides what is stored and used", arguments: CacheOrigin.nginxes)
  func policies(origin: CacheOrigin) async throws {
    let expected = [
      "minute": ["GET 200"], "personal": ["GET 200"], "secret": ["GET 200", "GET 200"],
      "expired": ["GET 200", "GET 304"], "silent": ["GET 200", "GET 304"],
    ]
    try await CachedFile.with(text, at: origin) { file in
      for (folder, requests) in expected {
        let (first, second) = (try await file.get(folder), try await file.get(folder))
        #expect(first.value.string == text && second.value.string == text && second.status == 200)
        try await file.expectRequests(requests, in: folder)
        guard folder == "personal" else { continue }
        #expect(first.field("Set-Cookie") != nil && second.field("Set-Cookie") == nil)
      }
    }
  }

  @Test(
    "A response without a lifetime gets one from its endpoint, or from its last modification if the cache may guess")
  func lifetimes() async throws {
    for isHeuristic in [false, true] {
      try await CachedFile.with(text, at: .nginx, heuristicFreshness: isHeuristic) { file in
        try file.setModificationDate(Date(timeIntervalSinceNow: -20 * 24 * 60 * 60))
        _ = try await file.get("silent")
        let second = try await file.get("silent").decision
        #expect(second == (isHeuristic ? "Apus; hit; ttl=86400" : "Apus; fwd=stale; fwd-status=304; ttl=0; stored"))
      }
    }
    try await CachedFile.with(text, at: .nginx) { file in
      for folder in ["silent", "expired"] {
        for _ in 0..<2 { _ = try await file.get(folder) { $0.cache(for: .seconds(30)) } }
        file.advance(seconds: 31)
        #expect(try await file.get(folder) { $0.cache(for: .seconds(30)) }.value.string == text)
      }
      try await file.expectRequests(["GET 200", "GET 304"], in: "silent")
      try await file.expectRequests(["GET 200", "GET 304", "GET 304"], in: "expired")
    }
  }

  // MARK: Content codings

  @Test(
    "Compressed content is decoded once, and nginx confirms its weak tag with a strong one",
    arguments: CacheOrigin.nginxes)
  func zipped(origin: CacheOrigin) async throws {
    try await CachedFile.with(text, at: origin) { file in
      for (decision, seconds) in [
        ("Apus; fwd=uri-miss; stored", 10), ("Apus; hit; ttl=50", 51),
        ("Apus; fwd=stale; fwd-status=304; ttl=60; stored", 10), ("Apus; hit; ttl=50", 0),
      ] {
        let response = try await file.get("zipped")
        #expect(response.decision == decision && response.value.string == text)
        #expect(response.field("Content-Encoding") == nil)
        #expect(response.field("Vary") == "Accept-Encoding")
        file.advance(seconds: seconds)
      }
      try await file.expectRequests(["GET 200", "GET 304"], in: "zipped")
    }
  }

  @Test("Calls that name different content codings use different responses of one URL")
  func variants() async throws {
    try await CachedFile.with(text, at: .nginx) { file in
      func get(_ coding: String) async throws -> Response<Content> {
        try await file.get("zipped") { $0.field("Accept-Encoding", coding) }
      }
      for isStored in [false, true] {
        let (coded, plain) = (try await get("gzip"), try await get("identity"))
        #expect(coded.field("Content-Encoding") == "gzip" && coded.value.data.starts(with: [0x1F, 0x8B]))
        #expect(coded.field("ETag")?.hasPrefix("W/") == true)
        #expect(plain.field("Content-Encoding") == nil && plain.value.string == text)
        #expect(coded.decision == (isStored ? "Apus; hit; ttl=60" : "Apus; fwd=uri-miss; stored"))
        #expect(plain.decision == (isStored ? "Apus; hit; ttl=60" : "Apus; fwd=vary-miss; stored"))
      }
      try await file.expectRequests(["GET 200", "GET 200"], in: "zipped")
      // nginx calls both representations by the tag of the plain one, so that the plain one is the result.
      file.advance(seconds: 61)
      let plain = try await get("identity")
      #expect(plain.decision == "Apus; fwd=stale; fwd-status=304; ttl=60; stored" && plain.value.string == text)
      let coded = try await get("gzip")
      #expect(coded.status == 200 && coded.field("Content-Encoding") == nil && coded.value.string == text)
    }
  }

  // MARK: Methods and ranges

  @Test("A range and HEAD are answered from the whole file, and a part is not stored as the file")
  func parts() async throws {
    try await CachedFile.with(text, at: .nginx) { file in
      let part = String(text.dropFirst(10).prefix(10))
      func range(_ range: String, _ ifRange: String? = nil) async throws -> Response<Content> {
        try await file.get("minute") {
          let request = $0.field("Range", range)
          return ifRange.map { request.field("If-Range", $0) } ?? request
        }
      }
      let before = try await range("bytes=10-19")
      #expect(before.status == 206 && before.value.string == part && before.decision == "Apus; fwd=uri-miss")
      let whole = try await file.get("minute")
      #expect(whole.value.string == text && whole.decision == "Apus; fwd=uri-miss; stored")
      let tag = try #require(whole.field("ETag"))
      for ifRange in [nil, tag] {
        let after = try await range("bytes=10-19", ifRange)
        #expect(after.status == 206 && after.value.string == part && after.decision == "Apus; hit; ttl=60")
        #expect(after.field("Content-Range") == before.field("Content-Range"))
      }
      #expect(try await range("bytes=10-19", "\"other\"").value.string == text)
      let head = try await file.api.response(to: file.request(.head, in: "minute"))
      #expect(head.decision == "Apus; hit; ttl=60" && head.field("Content-Length") == "\(text.utf8.count)")
      // nginx gives the rejection the lifetime of the file.
      let beyond = try await range("bytes=999999-")
      #expect(beyond.status == 416 && beyond.decision == "Apus; fwd=partial")
      #expect(try await file.get("minute").value.string == text)
      try await file.expectRequests(["GET 206", "GET 200", "GET 416"], in: "minute")
    }
  }

  @Test("A response to HEAD is not one to GET, but shows that the stored one is outdated")
  func head() async throws {
    try await CachedFile.with(text, at: .nginx) { file in
      let head = file.request(.head, in: "minute")
      for _ in 0..<2 { #expect(try await file.api.response(to: head).value.data.isEmpty) }
      #expect(try await file.get("minute").value.string == text)
      try await file.write("changed")
      let changed = try await file.api.response(to: head.cache(.reload))
      #expect(changed.field("Content-Length") == "7" && changed.decision.hasPrefix("Apus; fwd=request"))
      #expect(try await file.get("minute").value.string == "changed")
      try await file.expectRequests(["HEAD 200", "GET 200", "HEAD 200", "GET 200"], in: "minute")
    }
  }

  @Test("PUT and DELETE invalidate what is stored for their URL", arguments: CacheOrigin.nginxes)
  func unsafeMethods(origin: CacheOrigin) async throws {
    try await CachedFile.with(text, at: origin) { file in
      _ = try await file.get("minute")
      _ = try await file.api.response(to: file.request(.put, in: "minute").content(.bytes(Data("new".utf8))))
      let changed = try await file.get("minute")
      #expect(changed.value.string == "new" && changed.decision == "Apus; fwd=uri-miss; stored")
      _ = try await file.api.response(to: file.request(.delete, in: "minute"))
      #expect(try await file.get("minute").status == 404)
      try await file.expectRequests(["GET 200", "PUT 204", "GET 200", "DELETE 204", "GET 404"], in: "minute")
    }
  }

  @Test("The target of a redirect is not stored under the first URL; a redirect that is not followed is stored")
  func redirects() async throws {
    try await CachedFile.with(text, at: .nginx) { file in
      for _ in 0..<2 { #expect(try await file.get("moved").value.string == text) }
      try await file.expectRequests(["GET 301", "GET 301"], in: "moved")
      try await file.expectRequests(["GET 200", "GET 200"], in: "minute")
      for decision in ["Apus; fwd=uri-miss; stored", "Apus; hit; ttl=60"] {
        let moved = try await file.get("moved") { $0.redirects(.none) }
        #expect(moved.status == 301 && moved.decision == decision)
      }
      try await file.expectRequests(["GET 301", "GET 301", "GET 301"], in: "moved")
    }
  }

  // MARK: Stale responses

  @Test("A stale response is used in place of 503 where nginx allows it", arguments: CacheOrigin.nginxes)
  func staleIfError(origin: CacheOrigin) async throws {
    try await CachedFile.with(text, at: origin) { file in
      for folder in ["lenient", "strict"] { _ = try await file.get(folder) }
      file.advance(seconds: 61)
      for _ in 0..<2 {
        let stale = try await file.get("lenient") { $0.field("X-Fail", "1") }
        #expect(stale.decision == "Apus; fwd=stale; fwd-status=503; ttl=-1; detail=stale-if-error")
        #expect(stale.value.string == text && stale.cacheStatus?.isStale == true)
      }
      #expect(try await file.get("strict") { $0.field("X-Fail", "1") }.status == 503)
      // The second call came in the same second.
      try await file.expectRequests(["GET 200", "GET 503"], in: "lenient")
      try await file.expectRequests(["GET 200", "GET 503"], in: "strict")
      file.advance(seconds: 2)
      #expect(try await file.get("lenient").decision == "Apus; fwd=stale; fwd-status=304; ttl=60; stored")
    }
  }

  @Test("A stale response is used at once while nginx confirms it", arguments: CacheOrigin.nginxes)
  func staleWhileRevalidate(origin: CacheOrigin) async throws {
    try await CachedFile.with(text, at: origin) { file in
      _ = try await file.get("updated")
      file.advance(seconds: 61)
      let stale = try await file.get("updated")
      #expect(stale.decision == "Apus; hit; ttl=-1" && stale.cacheStatus?.isStale == true)
      try await file.expectRequests(["GET 200", "GET 304"], in: "updated")
      try await file.requireIdle()
      #expect(try await file.get("updated").decision == "Apus; hit; ttl=60")
      try await file.expectRequests(["GET 200", "GET 304"], in: "updated")
    }
  }
}
#endif

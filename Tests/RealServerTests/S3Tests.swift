#if os(Linux)
import Apus
import ApusNIO
import ApusTesting
import Foundation
import Testing

@testable import ApusAWS

/// Objects on independent servers that verify signatures.
@Suite("S3 servers: objects", .needs(.seaweedfs), .needs(.swift), .needs(.moto))
struct S3Tests {
  @Test("A stored object can be read, described, copied and deleted", arguments: S3Server.allCases)
  func object(server: S3Server) async throws {
    try await server.withBucket { bucket in
      #expect(try await bucket.exists())
      let stored = try await bucket.put(
        "films/ran.txt", .text("A film by Akira Kurosawa"), options: S3PutOptions(metadata: ["year": "1985"]))
      let film = try await bucket.get("films/ran.txt")
      #expect(String(decoding: film.data, as: UTF8.self) == "A film by Akira Kurosawa")
      #expect(film.info.entityTag == stored.entityTag && film.info.size == 24)
      let info = try await bucket.head("films/ran.txt")
      #expect(info.metadata == ["year": "1985"] && info.size == 24 && info.mediaType?.essence == "text/plain")
      #expect(try #require(info.lastModified).timeIntervalSinceNow > -600)
      let part = try await bucket.get("films/ran.txt", range: 2..<6)
      #expect(String(decoding: part.data, as: UTF8.self) == "film" && part.info.size == 24)

      try await bucket.copy("films/ran.txt", to: "films/copy of ran.txt")
      let copy = try await bucket.withContent(of: "films/copy of ran.txt") { content in try await content.collect() }
      #expect(copy == film.data)
      try await bucket.delete("films/ran.txt")
      let error = await failure { try await bucket.get("films/ran.txt") }
      #expect(error?.status == 404 && error?.s3?.code == "NoSuchKey")
      #expect(await failure { try await bucket.head("films/ran.txt") }?.s3?.code == "NotFound")
      #expect(await failure { try await bucket.copy("films/ran.txt", to: "x") }?.status == 404)
      try await bucket.delete("films/copy of ran.txt")
      try await bucket.remove()
      #expect(try await !bucket.exists())
    }
  }

  @Test("An object with a content coding is read and downloaded in its stored form", arguments: S3Server.strict)
  func coded(server: S3Server) async throws {
    let coded = try #require(
      Data(base64Encoded: "H4sIAAAAAAACA3NUSMvMyVVIqlRwzM4sSlTwLi3KL04sTwQA/TW4WBgAAAA="))
    try await server.withBucket { bucket in
      let options = S3PutOptions(fields: [RawField("Content-Encoding", "gzip")])
      try await bucket.put("ran.txt", .bytes(coded, "text/plain"), options: options)
      let object = try await bucket.get("ran.txt")
      #expect(object.data == coded && object.info.field("Content-Encoding") == "gzip")
      let path = FileManager.default.temporaryDirectory.path + "/apus-coded-\(UUID())"
      defer { try? FileManager.default.removeItem(atPath: path) }
      _ = try await bucket.download("ran.txt", to: path)
      #expect(FileManager.default.contents(atPath: path) == coded)
      try await bucket.delete("ran.txt")
    }
  }

  private static let keys = [
    "a b", " leading and trailing ", "a+b&c=d", "100%25", "100%", "%2F", "a?b#c;d", "äöü/ß/日本", "😀", "e\u{301}", "é",
    "~!*'()", "\"<>&'", "folder/name", String(repeating: "k", count: 200), "-._", "@:,$", "a\tb",
  ]
  /// Keys that SeaweedFS changes, because it maps keys to file system paths.
  private static let pathKeys = [
    "a\\b", "a//b", "folder/", "..", "../a", "a/../b", "./a/.", "/a", "//", String(repeating: "k", count: 1024),
    String(repeating: "ä/", count: 341),
  ]

  @Test("Unusual keys are stored, listed and deleted exactly", arguments: S3Server.allCases)
  func oddKeys(server: S3Server) async throws {
    let keys = [.swift, .moto].contains(server) ? Self.keys + Self.pathKeys : Self.keys
    try await server.withBucket { bucket in
      for key in keys { try await bucket.put(key, .text(key)) }
      for key in keys { #expect(try await bucket.get(key).data == Data(key.utf8), "\(key)") }
      var listed: [String] = []
      for try await page in bucket.list(pageSize: 7) { listed += page.objects.map(\.key) }
      #expect(
        listed.map { Array($0.utf8) }.sorted(by: Self.precedes) == keys.map { Array($0.utf8) }.sorted(by: Self.precedes)
      )
      #expect(try await bucket.delete(keys) == [])
      for try await page in bucket.list() { #expect(page.objects == []) }
    }
  }

  private static func precedes(_ lhs: [UInt8], _ rhs: [UInt8]) -> Bool { lhs.lexicographicallyPrecedes(rhs) }

  @Test("A list has common prefixes instead of the keys below them", arguments: S3Server.allCases)
  func folders(server: S3Server) async throws {
    try await server.withBucket { bucket in
      for key in ["a/1", "a/2", "b c/3", "d", "e"] { try await bucket.put(key, .text(key)) }
      var (keys, prefixes) = ([String](), [String]())
      for try await page in bucket.list(delimiter: "/") {
        keys += page.objects.map(\.key)
        prefixes += page.prefixes
      }
      #expect(keys == ["d", "e"] && prefixes == ["a/", "b c/"])
      var below: [String] = []
      for try await page in bucket.list(prefix: "a/", after: "a/1") { below += page.objects.map(\.key) }
      #expect(below == ["a/2"])
    }
  }

  @Test(
    "A presigned URL reads and stores without credentials, and is invalid after a change", arguments: S3Server.allCases)
  func presigned(server: S3Server) async throws {
    let authorities = try await server.authorities()
    try await server.withBucket { bucket in
      let writing = try await bucket.presign("a b/ü+.txt", method: .put, seconds: 60)
      let reading = try await bucket.presign("a b/ü+.txt", seconds: 60)
      try await withClient("http://127.0.0.1") {
        $0.trust.additionalTrustRoots = authorities
      } body: { api in
        _ = try await api.send(Request<Content>.put(.url(writing), content: .text("by anyone")))
        #expect(try await api.send(Request<Content>.get(.url(reading))).string == "by anyone")
        let other = reading.replacingOccurrences(of: "X-Amz-Expires=60", with: "X-Amz-Expires=600")
        #expect(await failure { try await api.send(Request<Content>.get(.url(other))) }?.status == 403)
      }
    }
  }

  @Test("Ten thousand keys are listed page by page, in order")
  func manyKeys() async throws {
    try await S3Server.seaweedfs.withBucket { bucket in
      let keys = (0..<10_000).map { "key/\(String($0 + 10_000).dropFirst())" }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for lane in 0..<16 {
          group.addTask {
            for index in stride(from: lane, to: keys.count, by: 16) {
              try await bucket.put(keys[index], .bytes(Data()))
            }
          }
        }
        try await group.waitForAll()
      }
      var (listed, pages) = ([String](), 0)
      for try await page in bucket.list(prefix: "key/") {
        listed += page.objects.map(\.key)
        pages += 1
      }
      #expect(listed == keys && pages >= 10)
      #expect(try await bucket.delete(keys) == [])
      for try await page in bucket.list() { #expect(page.objects == []) }
    }
  }
}
#endif

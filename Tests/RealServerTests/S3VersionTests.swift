#if os(Linux)
import Apus
import ApusTesting
import Foundation
import Testing

@testable import ApusAWS

/// Features that only moto supports: versioning, buckets of other regions, and stored checksums.
@Suite("S3 servers: versions, regions and checksums", .needs(.moto))
struct S3VersionTests {
  /// Runs `body` with a bucket with versioning.
  private func withVersions<Result>(_ body: (S3Bucket) async throws -> Result) async throws -> Result {
    try await S3Server.moto.withBucket { bucket in
      let document = XMLTree("VersioningConfiguration", children: [XMLTree("Status", text: "Enabled")])
      let content = RequestContent.bytes(XMLWriter.document(document, namespace: S3Document.namespace))
      try await bucket.client.send(
        bucket.request(.put, bucket.route(nil, [.init("versioning")]), content, mapping: .constant(())))
      return try await body(bucket)
    }
  }

  @Test("Each version is read, described and copied by its version ID")
  func versions() async throws {
    try await withVersions { bucket in
      let first = try await bucket.put("a b", .text("one"), options: S3PutOptions(metadata: ["n": "1"]))
      let second = try await bucket.put("a b", .text("two!"), options: S3PutOptions(metadata: ["n": "2"]))
      let (one, two) = (try #require(first.version), try #require(second.version))
      #expect(one != two)
      let latest = try await bucket.get("a b")
      #expect(latest.data == Data("two!".utf8) && latest.info.version == two)
      let old = try await bucket.get("a b", version: one)
      #expect(old.data == Data("one".utf8) && old.info.version == one && old.info.metadata == ["n": "1"])
      #expect(try await bucket.head("a b", version: one).size == 3)
      #expect(try await bucket.get("a b", range: 1..<3, version: two).data == Data("wo".utf8))
      try await bucket.copy("a b", to: "copy", version: one)
      #expect(try await bucket.get("copy").data == Data("one".utf8))
    }
  }

  @Test("A deleted object is missing but its versions stay; a deleted version is removed permanently")
  func deletion() async throws {
    try await withVersions { bucket in
      let first = try #require(try await bucket.put("a", .text("one")).version)
      let second = try #require(try await bucket.put("a", .text("two")).version)
      try await bucket.delete("a")
      #expect(await failure { try await bucket.get("a") }?.s3?.code == "NoSuchKey")
      for try await page in bucket.list() { #expect(page.objects.isEmpty) }
      #expect(try await bucket.get("a", version: second).data == Data("two".utf8))
      try await bucket.delete("a", version: second)
      #expect(await failure { try await bucket.get("a", version: second) }?.status == 404)
      #expect(try await bucket.get("a", version: first).data == Data("one".utf8))
    }
  }

  @Test("A bucket is created in the region of its client, and used there", arguments: ["us-east-1", "eu-central-1"])
  func region(name: String) async throws {
    let url = try BaseURL(try await RealServer.moto.value.url())
    try await withTransport(.nio) { transport in
      let client = Client(environment: Environment(baseURL: url), transport: transport)
      let bucket = S3(client, region: name, credentials: S3Server.credentials)
        .bucket("region-\(UUID().uuidString.lowercased())")
      #expect(try await !bucket.exists())
      try await bucket.create()
      #expect(try await bucket.exists())
      try await bucket.put("a", .text("b"))
      #expect(try await bucket.get("a").data == Data("b".utf8))
      let location = try await bucket.client.send(
        bucket.request(.get, bucket.route(nil, [.init("location")]), mapping: .document("LocationConstraint")))
      #expect(location.text == (name == "us-east-1" ? "" : name))
    }
  }

  @Test(
    "The checksum that the server computes equals the client's, and is compared with the content",
    arguments: [ChecksumAlgorithm.crc32, .sha1, .sha256])
  func checksums(checksum: ChecksumAlgorithm) async throws {
    try await S3Server.moto.withBucket { bucket in
      // The server computes the checksum only if the algorithm is specified and the checksum is not sent.
      let name = RawField("x-amz-sdk-checksum-algorithm", checksum.rawValue)
      let options = S3PutOptions(checksum: nil, fields: [name])
      try await bucket.put("a", .text("123456789"), options: options)
      var sum = ApusAWS.Checksum(checksum)
      sum.update(Data("123456789".utf8))
      let field = checksum.fieldName
      #expect(try await bucket.head("a").field(field) == sum.text)
      let object = try await bucket.get("a")
      #expect(object.data.count == 9 && object.info.field(field) == sum.text)
    }
  }

  @Test("More objects than one request can delete are deleted, including missing objects")
  func batches() async throws {
    try await S3Server.moto.withBucket { bucket in
      let keys = (0..<1001).map { "key \($0)" }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for lane in 0..<8 {
          group.addTask {
            for index in stride(from: lane, to: keys.count, by: 8) { try await bucket.put(keys[index], .text("x")) }
          }
        }
        try await group.waitForAll()
      }
      #expect(try await bucket.delete(keys + ["missing"]) == [])
      for try await page in bucket.list() { #expect(page.objects.isEmpty) }
    }
  }

  @Test("A list accepts any text as prefix, delimiter and start, and any page size")
  func lists() async throws {
    try await S3Server.moto.withBucket { bucket in
      let keys = ["a+b/1", "a+b/2", "a b/3", "ä|x||1", "ä|x||2", "ä|y", "&<>\"'", "%41", "z/"]
      for key in keys { try await bucket.put(key, .text(key)) }
      for pageSize in [1, 2, 1000] {
        var listed: [String] = []
        for try await page in bucket.list(pageSize: pageSize) { listed += page.objects.map(\.key) }
        #expect(Set(listed) == Set(keys) && listed.count == keys.count)
      }
      #expect(try await names(bucket.list(prefix: "a+b/")) == ["a+b/1", "a+b/2"])
      #expect(try await names(bucket.list(prefix: "ä|", delimiter: "||")) == ["ä|x||", "ä|y"])
      #expect(try await names(bucket.list(prefix: "ä", after: "ä|x||1")) == ["ä|x||2", "ä|y"])
      #expect(try await names(bucket.list(prefix: "nothing")) == [])
    }
  }

  private func names(_ pages: PageSequence<S3Page>) async throws -> [String] {
    var names: [String] = []
    for try await page in pages { names += page.prefixes + page.objects.map(\.key) }
    return names
  }

  @Test("An object is copied from another bucket")
  func copy() async throws {
    try await S3Server.moto.withBucket { source in
      try await source.put("a b/ü+%", .text("film"))
      try await S3Server.moto.withBucket { bucket in
        try await bucket.copy("a b/ü+%", from: source.name, to: "copy")
        #expect(try await bucket.get("copy").data == Data("film".utf8))
      }
    }
  }
}
#endif

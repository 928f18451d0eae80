import ApusCore
import ApusTesting
import Foundation
import HTTPTypes
import Testing

@testable import ApusTransfers

@Suite("The record of a download")
struct DownloadRecordTests {
  private let source = DownloadSource(
    RequestMessage(head: HTTPRequest(method: .get, scheme: "https", authority: "a.example", path: "/film?key=secret")))

  private func record(durable: Int64 = 40, boot: String? = "now") throws -> DownloadRecord {
    let digest = try #require(FileDigest(.sha256, [UInt8](repeating: 1, count: 32)))
    let representation = Representation(
      validator: .entityTag(#""a""#), total: 100, mediaType: "video/mp4", digests: [digest])
    return try #require(DownloadRecord(representation, of: source, durable: durable, boot: boot))
  }

  @Test("A written record is read again, with all values that describe the file")
  func roundTrip() throws {
    let record = try record()
    let read = try #require(record.encoded().flatMap { DownloadRecord($0) })
    #expect(read == record && read.representation.validator == .entityTag(#""a""#))
    #expect(read.representation.digests.count == 1 && read.representation.mediaType == "video/mp4")
  }

  @Test("A record contains the URL without its query, and a hash of the URL")
  func secrets() throws {
    let text = String(decoding: try #require(record().encoded()), as: UTF8.self)
    #expect(text.contains("https://a.example/film") && !text.contains("secret"))
    func named(_ name: String) -> DownloadOptions {
      var options = DownloadOptions()
      options.resource = name
      return options
    }
    let other = RequestMessage(
      head: HTTPRequest(method: .get, scheme: "https", authority: "a.example", path: "/film?key=other"))
    #expect(DownloadSource(other).hash != source.hash && DownloadSource(other).url == source.url)
    #expect(DownloadSource(other, named("a")).hash != DownloadSource(other, named("b")).hash)
  }

  @Test(
    "Damaged records and those of other versions are ignored",
    arguments: ["", "{", "[]", "{}", #"{"version":2}"#, "null", "\u{0}"])
  func damaged(_ text: String) {
    #expect(DownloadRecord(Array(text.utf8)) == nil)
  }

  @Test(
    "A record with another version or a negative length is ignored",
    arguments: [
      (#""version":1"#, #""version":2"#), (#""total":100"#, #""total":-1"#), (#""durable":40"#, #""durable":-1"#),
    ])
  func contradictions(_ part: String, _ other: String) throws {
    let text = String(decoding: try #require(record().encoded()), as: UTF8.self)
    let changed = text.replacingOccurrences(of: part, with: other)
    #expect(changed != text && DownloadRecord(Array(changed.utf8)) == nil)
  }

  @Test(
    "Unflushed bytes are used only in the boot session in which they were written",
    arguments: [
      (70, "now", "now", 70), (70, "now", "later", 40), (70, nil, nil, 40), (70, "now", nil, 40), (70, nil, "now", 40),
      (30, "now", "later", 30), (30, "now", "now", 30), (0, "now", "later", 0), (100, "now", "now", 100),
      (101, "now", "now", 0), (101, "now", "later", 0),
    ] as [(Int64, String?, String?, Int64)])
  func trusted(_ size: Int64, _ written: String?, _ present: String?, _ trusted: Int64) throws {
    #expect(try record(boot: written).trusted(of: size, boot: present) == trusted)
  }

  @Test("The boot session is known and does not change")
  func session() {
    #expect(BootSession.current != nil && BootSession.current == BootSession.current)
  }

  @Test("After a restart of the system, only flushed bytes are used")
  func restart() async throws {
    try await DownloadBench.with { bench in
      let film = FileOnServer(length: 700_000)
      try await bench.interrupt(film, after: 300_000)
      var record = try #require(bench.bytes(bench.record).flatMap { DownloadRecord([UInt8]($0)) })
      #expect(record.durable == 300_000 && record.boot == BootSession.current)
      (record.durable, record.boot) = (100_000, "before")
      try Data(try #require(record.encoded())).write(to: URL(filePath: bench.record))
      bench.serve(film)
      let file = try await bench.download()
      #expect(
        file.resumedBytes == 100_000 && bench.ranges.last == "bytes=100000-" && bench.bytes(bench.target) == film.bytes)
    }
  }

  @Test("Bytes without a record, and a record without bytes, are not used", arguments: [false, true])
  func half(_ hasRecord: Bool) async throws {
    try await DownloadBench.with { bench in
      let film = FileOnServer(length: 700_000)
      try await bench.interrupt(film, after: 300_000)
      try FileManager.default.removeItem(atPath: hasRecord ? bench.partial : bench.record)
      bench.serve(film)
      let file = try await bench.download()
      #expect(file.resumedBytes == 0 && bench.bytes(bench.target) == film.bytes && bench.names == ["film.mp4"])
    }
  }
}

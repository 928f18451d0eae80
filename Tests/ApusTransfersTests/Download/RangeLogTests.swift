import ApusCore
import ApusFiles
import ApusTesting
import Foundation
import HTTPTypes
import Testing

@testable import ApusTransfers

@Suite("The log of several ranges")
struct RangeLogTests {
  private static let total: Int64 = 10_000
  private let source = DownloadSource(
    RequestMessage(head: HTTPRequest(method: .get, scheme: "https", authority: "a.example", path: "/film")))

  private func record(_ present: ByteRanges, boot: String? = BootSession.current) throws -> DownloadRecord {
    let known = Representation(validator: .entityTag(#""a""#), total: Self.total)
    var record = try #require(DownloadRecord(known, of: source, durable: 0, boot: boot))
    record.set(present)
    return record
  }

  private func write(_ bytes: Range<Int64>, to file: PartialFile) throws {
    let content = [UInt8](repeating: 7, count: bytes.count)
    try content.withUnsafeBytes { buffer in try file.descriptor.write(buffer, at: bytes.lowerBound) }
  }

  /// Returns the bytes on disk that a later call can use, and the size of the file.
  private func found(_ bench: DownloadBench) async throws -> (ranges: ByteRanges, size: Int64) {
    let opened = try await OpenedDownload.open(bench.target, DownloadOptions(), source, DownloadState.Rules())
    defer { opened.file.release() }
    return (opened.gapped ?? ByteRanges([0..<opened.state.kept]), try opened.file.size)
  }

  @Test("A record with gaps is read; a contradictory record is ignored")
  func record() throws {
    let present = ByteRanges([0..<10, 50..<60])
    let record = try record(present)
    let bytes = try #require(record.encoded())
    let read = try #require(DownloadRecord(bytes))
    #expect(read == record && read.hasGaps && read.flushed == present && read.durable == 10)
    let text = String(decoding: bytes, as: UTF8.self)
    for (part, other) in [
      (#""version":2"#, #""version":1"#), (#""version":2"#, #""version":3"#), ("[50,60]", "[60,50]"),
      ("[50,60]", "[-1,60]"), ("[50,60]", "[50]"), ("[50,60]", "[50,60,70]"), ("[50,60]", "7"),
    ] {
      let changed = text.replacingOccurrences(of: part, with: other)
      #expect(changed != text && DownloadRecord(Array(changed.utf8)) == nil)
    }
    var sequential = record
    sequential.set(prefix: 10)
    #expect(!sequential.hasGaps && sequential.encoded().flatMap { DownloadRecord($0) } == sequential)
  }

  private func resources(_ file: PartialFile) -> ContentWriter.Resources {
    ContentWriter.Resources(file: file, queues: .init(), clock: ManualClock(.manual), checkpointInterval: 64 << 20)
  }

  @Test("A record of very many ranges remains readable, and omits the last ranges")
  func many() throws {
    let present = ByteRanges((0..<2000).map { Int64($0) * 4..<Int64($0) * 4 + 1 })
    let read = try #require(try record(present).encoded().flatMap { DownloadRecord($0) })
    #expect(read.flushed.ranges == Array(present.ranges.prefix(1000)))
  }

  @Test(
    "Bytes that were written but not flushed are used only in the same boot session", arguments: [true, false])
  func session(_ isSame: Bool) async throws {
    try await DownloadBench.with { bench in
      let file = try PartialFile.open(bench.target, replacing: false)
      let flushed = ByteRanges([0..<1000, 3000..<3100])
      let log = RangeLog(
        resources(file), try record(flushed, boot: isSame ? BootSession.current : "before"), present: flushed)
      try write(0..<Self.total / 2, to: file)
      try log.checkpoint()
      let (first, second) = (log.slot(from: 1000), log.slot(from: 4000))
      #expect(first != second)
      try log.add(1000..<1500, to: first)
      try log.add(4000..<4001, to: second)
      try log.add(1500..<2000, to: log.slot(from: 1500))
      #expect(log.present.ranges == [0..<2000, 3000..<3100, 4000..<4001])
      // The process is killed.
      file.release()
      let (ranges, size) = try await found(bench)
      #expect(ranges == (isSame ? log.present : flushed) && size == (isSame ? 4001 : 3100))
      // The record contains these bytes now.
      #expect(try await found(bench).ranges == ranges)
    }
  }

  @Test("Slots that contradict the file, and bytes beyond its end, are ignored")
  func damaged() async throws {
    try await DownloadBench.with { bench in
      let file = try PartialFile.open(bench.target, replacing: false)
      try RangeLog(resources(file), try record(ByteRanges([0..<10, 20..<30])), present: ByteRanges([0..<10]))
        .checkpoint()
      for (slot, run) in [(0, -5..<5), (1, 9990..<10_001), (2, 0..<0), (4, 5..<20)] as [(Int, Range<Int64>)] {
        try RangeTable.write(run, to: slot, of: file, total: Self.total)
      }
      #expect(try RangeTable.ranges(of: file, total: Self.total) == [5..<20])
      file.release()
      #expect(try await found(bench).ranges == ByteRanges([0..<20]))
      // A file shorter than its record states has lost the rest.
      let again = try PartialFile.open(bench.target, replacing: false)
      try again.descriptor.truncate(to: 15)
      again.release()
      #expect(try await found(bench).ranges == ByteRanges([0..<15]))
    }
  }

  @Test("A file whose gaps were filled is continued like a file without gaps")
  func prefix() async throws {
    try await DownloadBench.with { bench in
      let file = try PartialFile.open(bench.target, replacing: false)
      let log = RangeLog(resources(file), try record(ByteRanges([0..<10])), present: ByteRanges([0..<10]))
      try write(0..<500, to: file)
      try log.checkpoint()
      try log.add(10..<500, to: log.slot(from: 10))
      file.release()
      #expect(try await found(bench).size == 500)
      let record = try #require(bench.bytes(bench.record).flatMap { DownloadRecord([UInt8]($0)) })
      #expect(!record.hasGaps && record.durable == 500)
    }
  }
}

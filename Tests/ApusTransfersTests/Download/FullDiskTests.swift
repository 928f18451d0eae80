#if os(Linux)
import ApusCore
import ApusTestServer
import Foundation
import TestSupport
import Testing

@testable import ApusTransfers

/// Each test mounts a small file system for its own process.
@Suite("Downloads onto a full disk")
struct FullDiskTests {
  private static let size = 6 << 20

  private static func reply(to request: RecordedRequest, length: Int) -> Reply {
    let range = request.fields["Range"]
    let ends = (range ?? "bytes=0").dropFirst("bytes=".count).split(separator: "-").compactMap { Int($0) }
    let (start, end) = (ends[0], ends.count > 1 ? ends[1] + 1 : length)
    var fields: FieldLines = ["ETag": #""v1""#, "Content-Length": String(end - start)]
    if range != nil { fields["Content-Range"] = "bytes \(start)-\(end - 1)/\(length)" }
    return Reply(steps: [.head(range == nil ? 200 : 206, fields: fields), .generated(.counting, start..<end)])
  }

  /// Starts a program whose files are on a separate file system.
  private func start(_ mode: String, _ server: TestServer, _ bench: DownloadBench, _ ranges: Int) throws
    -> WorkerProcess
  {
    let script = #"mount -t tmpfs -o size="$5" tmpfs "$4" && exec "$0" "$1" "$2" "$4/film.mp4" "$3" "$4/other""#
    return try WorkerProcess(
      .transfers, by: ["unshare", "-m"], script: script, mode, "\(server.origin)/film", String(ranges), bench.folder,
      String(Self.size))
  }

  @Test(
    "A full disk ends the download but keeps the written bytes; the same call continues when there is space",
    .enabled(if: SmallFileSystem.isAvailable, "this user may not mount a file system"), arguments: [1, 3])
  func fills(_ ranges: Int) async throws {
    let length = 5_000_000
    try await TestServer.with {
      Self.reply(to: $0, length: length)
    } body: { server in
      try await DownloadBench.with { bench in
        let process = try start("filling", server, bench, ranges)
        let error = await process.line { $0.hasPrefix("error") || $0.hasPrefix("done") }
        #expect(error.contains("there is not enough space on the disk"))
        let files = await process.line { _ in true }
        #expect(files == "files film.mp4.apus-part film.mp4.apus-part.json other")
        // The error contains "… 2097152 of 5000000 bytes are kept …".
        let words = error.split(separator: " ")
        let of = try #require(words.indices.first { words[$0] == "of" && words[$0 + 1] == "\(length)" })
        let kept = try #require(Int(words[of - 1]))
        let line = await process.line { $0.hasPrefix("resumed") || $0.hasPrefix("error") }
        let resumed = try #require(line.split(separator: " ").last.flatMap { Int($0) })
        // The last write was incomplete because the disk was full. The bytes that it wrote are resumed, too.
        #expect(kept > 0 && resumed >= kept && resumed - kept < ranges * ContentWriter.writeSize)
        #expect(await process.line { $0.hasPrefix("done") } == "done \(length)")
      }
    }
  }

  @Test(
    "A queue whose store is on a full disk refuses a new transfer, and loses no stored transfer",
    .enabled(if: SmallFileSystem.isAvailable, "this user may not mount a file system"))
  func store() async throws {
    try await TestServer.with {
      Self.reply(to: $0, length: 100_000)
    } body: { server in
      try await DownloadBench.with { bench in
        let script =
          #"mount -t tmpfs -o size="$4" tmpfs "$3" && exec "$0" "$1" "$2" "$3/film.mp4" "$3/store" "$3/other""#
        let process = try WorkerProcess(
          .transfers, by: ["unshare", "-m"], script: script, "fullstore", "\(server.origin)/film", bench.folder,
          String(Self.size))
        let added = await process.line { _ in true }
        #expect(added.hasPrefix("add refused") && added.contains("there is not enough space on the disk"))
        // Only the first transfer is still in the queue: the second could not be stored.
        #expect(added.hasSuffix(" 1"))
        let paused = await process.line { _ in true }
        #expect(paused.hasPrefix("pause refused") && paused.contains("there is not enough space on the disk"))
        #expect(paused.hasSuffix(" 1"))
        #expect(await process.line { _ in true } == "listed 1")
        #expect(await process.line { _ in true } == "complete 100000")
        #expect(await process.line { _ in true } == "done 0")
      }
    }
  }

  @Test(
    "A file larger than the disk is refused before its content is written",
    .enabled(if: SmallFileSystem.isAvailable, "this user may not mount a file system"), arguments: [1, 3])
  func preflight(_ ranges: Int) async throws {
    try await TestServer.with {
      Self.reply(to: $0, length: Self.size + 1)
    } body: { server in
      try await DownloadBench.with { bench in
        let process = try start("download", server, bench, ranges)
        let error = await process.line { _ in true }
        #expect(await process.line { _ in true } == "files ")
        #expect(error.contains("there is not enough space on the disk") && !error.contains("bytes are kept"))
        #expect(server.exchanges.count == 1)
      }
    }
  }
}
#endif

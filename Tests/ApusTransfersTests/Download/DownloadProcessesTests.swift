#if NIO && Transfers && (os(Linux) || os(macOS))
import ApusCore
import ApusTestServer
import ApusTesting
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ApusTransfers

@Suite("Downloads of processes that die or share a file")
struct DownloadProcessesTests {
  private static let length = 20_000_000
  /// The number of bytes after which the server stalls.
  private static let step = 900_000

  /// Returns the response of a server with ranges, and the number of its bytes.
  static func reply(to request: RecordedRequest, length: Int = length) -> (reply: Reply, count: Int) {
    let range = request.fields["Range"]
    let ends = (range ?? "bytes=0").dropFirst("bytes=".count).split(separator: "-").compactMap { Int($0) }
    let (start, end) = (ends[0], ends.count > 1 ? ends[1] + 1 : length)
    var fields: FieldLines = ["ETag": #""v1""#, "Content-Length": String(end - start)]
    if range != nil { fields["Content-Range"] = "bytes \(start)-\(end - 1)/\(length)" }
    let reply = Reply(steps: [.head(range == nil ? 200 : 206, fields: fields), .generated(.counting, start..<end)])
    return (reply, end - start)
  }

  private static func bytes(in line: String) -> Int? {
    line.hasPrefix("bytes ") ? Int(line.dropFirst("bytes ".count)) : nil
  }

  @Test("A download that is killed 20 times is continued each time, and arrives unchanged")
  func killed() async throws {
    try await TestServer.with { request in
      let (reply, _) = Self.reply(to: request)
      return request.number < 20 ? reply.stalling(at: .content(Self.step)) : reply
    } body: { server in
      try await DownloadBench.with { bench in
        for _ in 0..<20 {
          let present = (bench.bytes(bench.partial)?.count ?? 0) + Self.step
          let process = try TransferProcess("download", "\(server.origin)/film", bench.target)
          let line = await process.line { Self.bytes(in: $0).map { $0 >= present } ?? true }
          #expect(Self.bytes(in: line) == present)
          await process.kill()
          #expect(bench.bytes(bench.target) == nil)
        }
        let process = try TransferProcess("download", "\(server.origin)/film", bench.target)
        let line = await process.line { Self.bytes(in: $0) == nil }
        let resumed = line.hasPrefix("resumed ") ? Int(line.dropFirst("resumed ".count)) : nil
        // All but what had not been written yet.
        #expect(try #require(resumed) > 20 * Self.step / 4)
        #expect(await process.line { $0.hasPrefix("done") } == "done \(Self.length)")
        #expect(bench.bytes(bench.target).map { [UInt8]($0) } == ContentPattern.counting.bytes(0..<Self.length))
        #expect(bench.names == ["film.mp4"])
      }
    }
  }

  @Test("A download with several ranges that is killed 20 times at random points arrives unchanged", arguments: [1, 2])
  func killedInParallel(_ seed: UInt64) async throws {
    let length = 40_000_000
    let isLast = Mutex(false)
    let random = Mutex(SeededGenerator(seed: seed))
    try await TestServer.with { request in
      let (reply, count) = Self.reply(to: request, length: length)
      let stall = random.withLock { Int.random(in: 300_000..<800_000, using: &$0) }
      return isLast.withLock { $0 } || stall >= count ? reply : reply.stalling(at: .content(stall))
    } body: { server in
      try await DownloadBench.with { bench in
        var (seen, lost) = (0, 0)
        for run in 0..<20 {
          let process = try TransferProcess(
            "download", "\(server.origin)/film", bench.target, "\([3, 1, 4, 2][run % 4])")
          let first = Self.bytes(in: await process.line { _ in true })
          // The bytes that are there now are those of the last run but the ones it had not written.
          let begin = try #require(first)
          lost += max(0, seen - begin)
          #expect(seen - begin <= 4 * 3 * ContentWriter.writeSize)
          let goal = begin + random.withLock { Int.random(in: 50_000..<290_000, using: &$0) }
          let line = await process.line { Self.bytes(in: $0).map { $0 >= goal } ?? true }
          seen = try #require(Self.bytes(in: line))
          await process.kill()
          #expect(bench.bytes(bench.target) == nil)
        }
        isLast.withLock { $0 = true }
        let process = try TransferProcess("download", "\(server.origin)/film", bench.target, "3")
        let line = await process.line { Self.bytes(in: $0) == nil }
        let resumed = line.hasPrefix("resumed ") ? Int(line.dropFirst("resumed ".count)) : nil
        #expect(try #require(resumed) > 0)
        #expect(await process.line { $0.hasPrefix("done") } == "done \(length)")
        #expect(bench.bytes(bench.target).map { [UInt8]($0) } == ContentPattern.counting.bytes(0..<length))
        #expect(bench.names == ["film.mp4"])
        // Far less than what 20 downloads from the start would have cost.
        #expect(lost < length)
      }
    }
  }

  @Test("A download to a file that another process downloads is refused, and goes on when that process has died")
  func shared() async throws {
    try await TestServer.with { request in
      let (reply, _) = Self.reply(to: request)
      return request.number == 0 ? reply.stalling(at: .content(Self.step)) : reply
    } body: { server in
      try await DownloadBench.with { bench in
        let first = try TransferProcess("download", "\(server.origin)/film", bench.target)
        _ = await first.line { Self.bytes(in: $0) == Self.step }
        let error = await failure { try await bench.download() }
        #expect(error?.code == .refused && error?.transfer?.reason == .inUse)
        await first.kill()
        let second = try TransferProcess("download", "\(server.origin)/film", bench.target)
        #expect(await second.line { $0.hasPrefix("done") } == "done \(Self.length)")
      }
    }
  }

  @Test("A write that fails keeps what was written, and the next process continues from there")
  func limited() async throws {
    try await TestServer.with {
      Self.reply(to: $0).reply
    } body: { server in
      try await DownloadBench.with { bench in
        let first = try TransferProcess("limited", "\(server.origin)/film", bench.target, "5000000")
        let line = await first.line { Self.bytes(in: $0) == nil }
        #expect(line.contains("was not continued") && line.contains("bytes are kept; the same call continues"))
        let size = bench.bytes(bench.partial)?.count
        #expect(bench.bytes(bench.target) == nil && size == 5_000_000)
        let second = try TransferProcess("download", "\(server.origin)/film", bench.target)
        #expect(await second.line { $0.hasPrefix("resumed") } == "resumed 5000000")
        #expect(await second.line { $0.hasPrefix("done") } == "done \(Self.length)")
        #expect(bench.bytes(bench.target).map { [UInt8]($0) } == ContentPattern.counting.bytes(0..<Self.length))
      }
    }
  }
}
#endif

#if os(Linux) || os(macOS)
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

  /// The maximum number of bytes that a killed process had received but not written: the gathered bytes, and the bytes
  /// of an unfinished write. Each of the two can exceed the size of a write by almost a piece.
  private static let unwritten = 2 * (ContentWriter.writeSize + pieceSize)
  /// The maximum number of bytes in one received piece.
  private static let pieceSize = 64 << 10

  @Test(
    "A download killed at 20 random points continues each time, repeats only unwritten bytes, and arrives unchanged",
    arguments: [1, 2])
  func killed(_ seed: UInt64) async throws {
    let length = 40_000_000
    var random = SeededGenerator(seed: seed)
    // Each process is killed after `goal` bytes. The server sends `beyond` further bytes before it stalls.
    let runs = (0..<20).map { _ in
      (goal: Int.random(in: 700_000..<1_700_000, using: &random), beyond: Int.random(in: 1..<200_000, using: &random))
    }
    let served = Mutex<[Range<Int>]>([])
    try await TestServer.with { request in
      let (reply, count) = Self.reply(to: request, length: length)
      let run = runs.dropFirst(request.number).first
      let size = min(run.map { $0.goal + $0.beyond } ?? count, count)
      served.withLock { $0.append(length - count..<length - count + size) }
      return run == nil ? reply : reply.stalling(at: .content(size))
    } body: { server in
      try await DownloadBench.with { bench in
        var begin = 0
        for (number, run) in runs.enumerated() {
          // Flushes and replaces the record very often, so that some processes die during these steps.
          let process = try WorkerProcess(.transfers, "download", "\(server.origin)/film", bench.target, "1", "100000")
          let line = await process.line { Self.bytes(in: $0).map { $0 >= begin + run.goal } ?? true }
          #expect(Self.bytes(in: line) != nil)
          await process.kill()
          #expect(bench.bytes(bench.target) == nil)
          let (end, present) = (served.withLock { $0[number].upperBound }, bench.bytes(bench.partial)?.count ?? 0)
          #expect(end - present <= run.beyond + Self.unwritten, "run \(number)")
          begin = present
        }
        let process = try WorkerProcess(.transfers, "download", "\(server.origin)/film", bench.target)
        #expect(await process.line { Self.bytes(in: $0) == nil } == "resumed \(begin)")
        #expect(await process.line { $0.hasPrefix("done") } == "done \(length)")
        #expect(bench.bytes(bench.target).map { [UInt8]($0) == ContentPattern.counting.bytes(0..<length) } == true)
        #expect(bench.names == ["film.mp4"])
        let sentAgain = served.withLock { $0.reduce(0) { $0 + $1.count } } - length
        let bound = runs.reduce(0) { $0 + $1.beyond + Self.unwritten }
        #expect(sentAgain >= 0 && sentAgain <= bound && bound < runs.reduce(0) { $0 + $1.goal })
      }
    }
  }

  @Test(
    "A download of several ranges killed at 20 random points repeats only unwritten bytes, and arrives unchanged",
    arguments: [1, 2])
  func killedInParallel(_ seed: UInt64) async throws {
    let length = 100_000_000
    // The number of bytes after which the server stalls each response to the present process. `nil`: the server never
    // stalls.
    let stall = Mutex<Int?>(0)
    let random = Mutex(SeededGenerator(seed: seed))
    func number(in range: Range<Int>) -> Int { random.withLock { Int.random(in: range, using: &$0) } }
    try await TestServer.with { request in
      let (reply, count) = Self.reply(to: request, length: length)
      guard let stall = stall.withLock({ $0 }), stall < count else { return reply }
      return reply.stalling(at: .content(stall))
    } body: { server in
      try await DownloadBench.with { bench in
        var (seen, lost, bound) = (0, 0, 0)
        for run in 0..<20 {
          let lanes = [3, 1, 4, 2][run % 4]
          let count = number(in: 2_500_000..<4_000_000)
          stall.withLock { $0 = count / lanes + number(in: 1..<100_000) }
          let process = try WorkerProcess(
            .transfers, "download", "\(server.origin)/film", bench.target, "\(lanes)", "200000")
          let begin = try #require(Self.bytes(in: await process.line { _ in true }))
          // The bytes on disk are those that the last process received, except the bytes that it had not written.
          let allowed = run == 0 ? 0 : [3, 1, 4, 2][(run - 1) % 4] * Self.unwritten
          #expect(seen - begin <= allowed, "run \(run)")
          lost += max(0, seen - begin)
          bound += allowed
          let line = await process.line { Self.bytes(in: $0).map { $0 >= begin + count } ?? true }
          seen = try #require(Self.bytes(in: line))
          await process.kill()
          #expect(bench.bytes(bench.target) == nil)
        }
        stall.withLock { $0 = nil }
        let process = try WorkerProcess(.transfers, "download", "\(server.origin)/film", bench.target, "3")
        let line = await process.line { Self.bytes(in: $0) == nil }
        let resumed = line.hasPrefix("resumed ") ? Int(line.dropFirst("resumed ".count)) : nil
        #expect(try #require(resumed) >= seen - 2 * Self.unwritten)
        #expect(await process.line { $0.hasPrefix("done") } == "done \(length)")
        #expect(bench.bytes(bench.target).map { [UInt8]($0) == ContentPattern.counting.bytes(0..<length) } == true)
        #expect(bench.names == ["film.mp4"])
        #expect(lost <= bound && bound < 20 * 2_500_000)
      }
    }
  }

  @Test("A process that dies while verifying its file leaves no file, and the next process transfers no byte again")
  func killedWhenVerified() async throws {
    try await TestServer.with { request in
      let range = request.fields["Range"]
      return range == "bytes=\(Self.length)-"
        ? .status(416, fields: ["Content-Range": "bytes */\(Self.length)", "ETag": #""v1""#])
        : Self.reply(to: request).reply
    } body: { server in
      try await DownloadBench.with { bench in
        let first = try WorkerProcess(.transfers, "verified", "\(server.origin)/film", bench.target)
        #expect(await first.line { _ in true } == "verified")
        await first.kill()
        #expect(bench.bytes(bench.target) == nil)
        let second = try WorkerProcess(.transfers, "download", "\(server.origin)/film", bench.target)
        #expect(await second.line { Self.bytes(in: $0) == nil } == "resumed \(Self.length)")
        #expect(await second.line { $0.hasPrefix("done") } == "done \(Self.length)")
        #expect(server.exchanges.count == 2 && bench.names == ["film.mp4"])
      }
    }
  }

  @Test("A download to a file that another process downloads is refused, and continues after that process has died")
  func shared() async throws {
    try await TestServer.with { request in
      let (reply, _) = Self.reply(to: request)
      return request.number == 0 ? reply.stalling(at: .content(Self.step)) : reply
    } body: { server in
      try await DownloadBench.with { bench in
        let first = try WorkerProcess(.transfers, "download", "\(server.origin)/film", bench.target)
        _ = await first.line { Self.bytes(in: $0) == Self.step }
        let error = await failure { try await bench.download() }
        #expect(error?.code == .refused && error?.transfer?.problem == .inUse)
        await first.kill()
        let second = try WorkerProcess(.transfers, "download", "\(server.origin)/film", bench.target)
        #expect(await second.line { $0.hasPrefix("done") } == "done \(Self.length)")
      }
    }
  }

  @Test("After a failed write the written bytes are kept, and the next process continues from them")
  func limited() async throws {
    try await TestServer.with {
      Self.reply(to: $0).reply
    } body: { server in
      try await DownloadBench.with { bench in
        let first = try WorkerProcess(.transfers, "limited", "\(server.origin)/film", bench.target, "5000000")
        let line = await first.line { Self.bytes(in: $0) == nil }
        #expect(line.contains("was not continued") && line.contains("bytes are kept; the same call continues"))
        let size = bench.bytes(bench.partial)?.count
        #expect(bench.bytes(bench.target) == nil && size == 5_000_000)
        let second = try WorkerProcess(.transfers, "download", "\(server.origin)/film", bench.target)
        #expect(await second.line { $0.hasPrefix("resumed") } == "resumed 5000000")
        #expect(await second.line { $0.hasPrefix("done") } == "done \(Self.length)")
        #expect(bench.bytes(bench.target).map { [UInt8]($0) } == ContentPattern.counting.bytes(0..<Self.length))
      }
    }
  }
}
#endif

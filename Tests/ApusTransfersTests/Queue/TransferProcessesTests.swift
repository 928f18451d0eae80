#if os(Linux) || os(macOS)
import ApusTestServer
import ApusTesting
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ApusTransfers

@Suite("Queued transfers of processes that die")
struct TransferProcessesTests {
  private static let length = 20_000_000
  private static let kills = 20

  @Test("A queued upload whose process is killed 20 times is continued by each new process without being added again")
  func upload() async throws {
    var random = SeededGenerator(seed: 3)
    let stops = (0..<Self.kills).map { _ in Int.random(in: 1...Self.length / Self.kills / 2, using: &random) }
    let run = Mutex(0)
    let faults = UploadServer.stalls(after: stops) { run.withLock { $0 } }
    try await UploadServer.with(.tus, faults: faults) { uploads, server in
      try await UploadBench.with(server) { bench in
        let bytes = try bench.write(Self.length)
        let url = server.origin + UploadServer.path
        _ = FileManager.default.createFile(atPath: bench.path + ".add", contents: nil)
        for (number, stop) in stops.enumerated() {
          let before = uploads.offset(of: "/files/upload-0")
          let process = try WorkerProcess(.transfers, "queue", "upload", url, bench.path, bench.store.path)
          if number == 0 { #expect(await process.line { $0.hasPrefix("added") } == "added 1") }
          try await server.wait { _ in uploads.offset(of: "/files/upload-0") >= before + stop }
          try #require(uploads.offset(of: "/files/upload-0") < Self.length)
          await process.kill()
          run.withLock { $0 += 1 }
        }
        let process = try WorkerProcess(.transfers, "queue", "upload", url, bench.path, bench.store.path)
        #expect(await process.line { $0.hasPrefix("done") || $0.hasPrefix("error") } == "done 0")
        #expect(uploads.has(bytes) && uploads.received == Self.length && bench.records.isEmpty)
        #expect(bench.log == ["\(Self.length)"])
      }
    }
  }

  @Test("A queued download whose process is killed 20 times arrives unchanged, and no partial file has its name")
  func download() async throws {
    let step = 900_000
    try await TestServer.with { request in
      let (reply, _) = DownloadProcessesTests.reply(to: request)
      return request.number < Self.kills ? reply.stalling(at: .content(step)) : reply
    } body: { server in
      try await UploadBench.with(server) { bench in
        let (url, target) = (server.origin + "/film", bench.path)
        _ = FileManager.default.createFile(atPath: target + ".add", contents: nil)
        for number in 0..<Self.kills {
          let present = (bench.bench.bytes(bench.bench.partial)?.count ?? 0) + step
          let process = try WorkerProcess(.transfers, "queue", "download", url, target, bench.store.path)
          if number == 0 { #expect(await process.line { $0.hasPrefix("added") } == "added 1") }
          #expect(await process.line { $0 == "bytes \(present)" || $0.hasPrefix("error") } == "bytes \(present)")
          await process.kill()
          #expect(bench.bench.bytes(target) == nil)
        }
        let process = try WorkerProcess(.transfers, "queue", "download", url, target, bench.store.path)
        #expect(await process.line { $0.hasPrefix("done") || $0.hasPrefix("error") } == "done 0")
        let expected = ContentPattern.counting.bytes(0..<Self.length)
        #expect(bench.bench.bytes(target).map { [UInt8]($0) == expected } == true)
        #expect(bench.log == ["\(Self.length)"] && bench.records.isEmpty)
      }
    }
  }

  @Test("A process that dies while it renames its file leaves the complete file, which the next process reports once")
  func publishing() async throws {
    try await TestServer.with { request in
      DownloadProcessesTests.reply(to: request, length: 2_000_000).reply
    } body: { server in
      for run in 0..<5 {
        try await UploadBench.with(server) { bench in
          let (url, target) = ("\(server.origin)/film-\(run)", bench.path)
          _ = FileManager.default.createFile(atPath: target + ".add", contents: nil)
          let first = try WorkerProcess(.transfers, "queue", "dying", url, target, bench.store.path)
          _ = await first.line { $0.hasPrefix("done") }
          let expected = ContentPattern.counting.bytes(0..<2_000_000)
          #expect(bench.bench.bytes(target).map { [UInt8]($0) == expected } == true)
          let next = try WorkerProcess(.transfers, "queue", "download", url, target, bench.store.path)
          #expect(await next.line { $0.hasPrefix("done") || $0.hasPrefix("error") } == "done 0")
          #expect(bench.log.last == "2000000" && bench.records.isEmpty)
          #expect(bench.bench.names == ["film.mp4", "film.mp4.log", "state"])
        }
        #expect(server.exchanges.count == run + 1)
      }
    }
  }
}

extension UploadBench {
  /// The sizes of the completed transfers.
  fileprivate var log: [String] {
    let content = FileManager.default.contents(atPath: path + ".log") ?? Data()
    return String(decoding: content, as: UTF8.self).split(separator: "\n").map(String.init)
  }
}
#endif

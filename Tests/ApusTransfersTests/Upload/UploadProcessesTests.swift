#if os(Linux) || os(macOS)
import ApusTestServer
import ApusTesting
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ApusTransfers

@Suite("Uploads of processes that die")
struct UploadProcessesTests {
  private static let length = 20_000_000
  private static let kills = 20

  /// Returns the numbers of bytes after which the processes are killed, in ascending order.
  private static func stops(seed: UInt64) -> [Int] {
    var random = SeededGenerator(seed: seed)
    return (0..<kills).map { _ in Int.random(in: 1...length / kills / 2, using: &random) }
  }

  @Test(
    "An upload killed at 20 random points continues each time, and arrives unchanged",
    arguments: UploadServer.Dialect.allCases)
  func killed(_ dialect: UploadServer.Dialect) async throws {
    let stops = Self.stops(seed: dialect == .tus ? 1 : 2)
    let run = Mutex(0)
    let faults = UploadServer.stalls(after: stops) { run.withLock { $0 } }
    try await UploadServer.with(dialect, faults: faults) { uploads, server in
      try await UploadBench.with(server) { bench in
        let bytes = try bench.write(Self.length)
        let url = server.origin + UploadServer.path
        for stop in stops {
          let before = uploads.offset(of: "/files/upload-0")
          let process = try WorkerProcess(.transfers, dialect.rawValue, url, bench.path, bench.store.path)
          try await server.wait { _ in uploads.offset(of: "/files/upload-0") >= before + stop }
          try #require(uploads.offset(of: "/files/upload-0") < Self.length)
          // In the IETF draft, the upload's URL is known once its interim response has arrived.
          try await waitWhile(!bench.records.contains { $0.hasSuffix(".json") })
          await process.kill()
          run.withLock { $0 += 1 }
        }
        let process = try WorkerProcess(.transfers, dialect.rawValue, url, bench.path, bench.store.path)
        let resumed = await process.line { $0.hasPrefix("resumed") }
        #expect(Self.number(in: resumed) >= stops.reduce(0, +))
        #expect(await process.line { $0.hasPrefix("done") } == "done \(Self.length)")
        #expect(uploads.has(bytes) && bench.records.isEmpty)
        // No stored byte is sent again.
        #expect(uploads.received == Self.length)
      }
    }
  }

  private static func number(in line: String) -> Int { line.split(separator: " ").last.flatMap { Int($0) } ?? 0 }
}
#endif

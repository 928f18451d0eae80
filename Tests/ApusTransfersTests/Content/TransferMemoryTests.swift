#if os(Linux)
import ApusTestServer
import Foundation
import TestSupport
import Testing

/// Each transfer runs in a separate process, because other tests allocate memory in this process.
@Suite("The memory of a process that transfers 1 GB", .serialized)
struct TransferMemoryTests {
  enum Variant: String, CaseIterable, Sendable {
    case download
    case upload
    case multipart
  }

  private static let length = 1_000_000_000
  /// The limit in KiB. With the address sanitizer there is no limit, because it keeps freed memory for a while.
  private static let limit = ProcessInfo.processInfo.environment["ASAN_OPTIONS"] == nil ? 40 << 10 : Int.max

  @Test("A transfer of 1 GB takes at most 40 MiB of memory", arguments: Variant.allCases)
  func memory(variant: Variant) async throws {
    try await TestServer.with { request in
      request.method == "GET" ? .generated(Self.length) : .status(204)
    } body: { server in
      try await DownloadBench.with { bench in
        if variant != .download { try makeFile(bench.target) }
        let process = try WorkerProcess(.transfers, "memory", variant.rawValue, "\(server.origin)/film", bench.target)
        let line = await process.line { _ in true }
        let grown = try #require(line.hasPrefix("grown ") ? Int(line.dropFirst("grown ".count)) : nil, "\(line)")
        #expect(grown <= Self.limit)
        // Proves that the process transferred the file.
        let sent = try #require(server.exchanges.first).request.contentLength
        switch variant {
        case .download: #expect(try fileSize(bench.target) == Self.length)
        case .upload: #expect(sent == Self.length)
        case .multipart: #expect(sent > Self.length && sent < Self.length + 1000)
        }
      }
    }
  }

  /// Creates a sparse file, which uses no disk space.
  private func makeFile(_ path: String) throws {
    try Data().write(to: URL(filePath: path))
    let file = try FileHandle(forWritingTo: URL(filePath: path))
    try file.truncate(atOffset: UInt64(Self.length))
    try file.close()
  }

  private func fileSize(_ path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
  }
}
#endif

#if os(Linux)
import Foundation
import HTTPTypes
import NIOCore

/// The script `scripts/fuzz/judge.py`, an independent reading of RFC 9112 that checks the decoder's results.
struct Judge {
  struct Findings: Decodable {
    /// The number of compared results, and the number of results that accepted a response.
    let count: Int
    let accepted: Int
    /// The number of occurrences of each named difference.
    let explained: [String: Int]
    /// The first differences without a name: seed, difference and bytes.
    let unexplained: [String]
  }

  static let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appending(path: "scripts/fuzz/judge.py")

  static let isThere = ProcessInfo.processInfo.environment["PATH", default: ""].split(separator: ":").contains {
    FileManager.default.isExecutableFile(atPath: "\($0)/python3")
  }

  /// Whether a test that cannot run must fail.
  static let isRequired =
    ProcessInfo.processInfo.environment["CI"] == "true"
    || ProcessInfo.processInfo.environment["APUS_SERVERS"] == "required"

  /// Checks streams in a separate process. A dedicated thread writes the streams, because tests must not block.
  static func findings(on seeds: some Sequence<UInt64> & Sendable) async throws -> Findings {
    try await withCheckedThrowingContinuation { done in
      Thread.detachNewThread { done.resume(with: Result { try judged(seeds) }) }
    }
  }

  private static func judged(_ seeds: some Sequence<UInt64>) throws -> Findings {
    let process = Process()
    let (input, output) = (Pipe(), Pipe())
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["python3", script.path]
    process.standardInput = input
    process.standardOutput = output
    // Without this flag, another child process could inherit the pipe and keep the judge's input open.
    _ = fcntl(input.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
    try process.run()
    // The judge writes nothing before the end of its input, so writing cannot deadlock with reading.
    var records = ByteBuffer()
    for seed in seeds {
      write(ResponseStream(seed: seed), to: &records)
      guard records.readableBytes > 64 << 10 else { continue }
      try input.fileHandleForWriting.write(contentsOf: Data(records.readableBytesView))
      records.clear()
    }
    try input.fileHandleForWriting.write(contentsOf: Data(records.readableBytesView))
    try input.fileHandleForWriting.close()
    let answer = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return try JSONDecoder().decode(Findings.self, from: answer)
  }

  private static func write(_ stream: ResponseStream, to records: inout ByteBuffer) {
    let verdict = Decoded(stream).rendered
    records.writeInteger(stream.seed)
    records.writeInteger(UInt8(stream.method == .connect ? 2 : stream.method == .head ? 1 : 0))
    records.writeInteger(UInt8(stream.end == .clean ? 1 : 0))
    records.writeInteger(UInt32(verdict.count))
    records.writeInteger(UInt32(stream.bytes.count))
    records.writeBytes(verdict)
    records.writeBytes(stream.bytes)
  }
}
#endif

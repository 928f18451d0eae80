#if NIO && os(Linux)
  import Foundation
  import HTTPTypes
  import NIOCore

  /// `scripts/fuzz/judge.py`: another reading of RFC 9112, in another language, which judges verdicts.
  struct Judge {
    struct Findings: Decodable {
      /// How many verdicts were judged, and how many of them accepted an answer.
      let count: Int
      let accepted: Int
      /// How often each difference occurred that has a name.
      let explained: [String: Int]
      /// The first of those that have none: seed, what differs, and the bytes.
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

    /// Judges streams in a process of its own; writes them in a thread of its own, which waits where tests must not.
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
      // Another process would hold it open, and this one wait for its end.
      _ = fcntl(input.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
      try process.run()
      // It says nothing before the end, so writing cannot wait for reading.
      var records = ByteBuffer()
      for seed in seeds {
        write(AnswerStream(seed: seed), to: &records)
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

    private static func write(_ stream: AnswerStream, to records: inout ByteBuffer) {
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

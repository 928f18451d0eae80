import Foundation
import NIOCore

/// The script `scripts/fuzz/field_blocks.py`, which decodes and encodes field blocks with Python's package hpack.
struct PythonHPACK {
  static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  /// Whether the package is installed (scripts/servers/install-from-pypi).
  static let isThere = FileManager.default.fileExists(atPath: root.appending(path: ".build-servers/pypi/hpack").path)

  /// Whether a test that cannot run must fail.
  static let isRequired =
    ProcessInfo.processInfo.environment["CI"] == "true"
    || ProcessInfo.processInfo.environment["APUS_SERVERS"] == "required"

  private var records = ByteBuffer()

  mutating func beginConnection(tableSize: Int) { write("n", ByteBuffer(integer: UInt32(tableSize))) }

  mutating func setTableSize(_ size: Int) { write("s", ByteBuffer(integer: UInt32(size))) }

  mutating func decode(_ block: [UInt8]) { write("d", ByteBuffer(bytes: block)) }

  mutating func encode(_ lines: [FieldLine], isHuffmanCoded: Bool) {
    var payload = ByteBuffer()
    payload.writeMultipleIntegers(UInt8(isHuffmanCoded ? 1 : 0), UInt32(lines.count))
    for line in lines {
      payload.writeMultipleIntegers(UInt8(line.isSensitive ? 1 : 0), UInt32(line.name.count), UInt32(line.value.count))
      payload.writeBytes(line.name)
      payload.writeBytes(line.value)
    }
    write("e", payload)
  }

  private mutating func write(_ kind: Unicode.Scalar, _ payload: ByteBuffer) {
    records.writeInteger(UInt8(ascii: kind))
    records.writeInteger(UInt32(payload.readableBytes))
    records.writeImmutableBuffer(payload)
  }

  /// Runs the script. A dedicated thread waits for the process, because tests must not block.
  func results() async throws -> PythonResults {
    let records = records
    return try await withCheckedThrowingContinuation { done in
      Thread.detachNewThread { done.resume(with: Result { try Self.run(records) }) }
    }
  }

  private static func run(_ records: ByteBuffer) throws -> PythonResults {
    let process = Process()
    let (input, output) = (Pipe(), Pipe())
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["python3", root.appending(path: "scripts/fuzz/field_blocks.py").path]
    process.standardInput = input
    process.standardOutput = output
    // Without this flag, another child process could inherit the pipe and keep the script's input open.
    _ = fcntl(input.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
    try process.run()
    // The script writes nothing before the end of its input, so writing cannot deadlock with reading.
    try input.fileHandleForWriting.write(contentsOf: Data(records.readableBytesView))
    try input.fileHandleForWriting.close()
    let results = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return PythonResults(bytes: ByteBuffer(bytes: results))
  }
}

/// The results of the script, in the order of the records.
struct PythonResults: Sendable {
  /// The script wrote fewer results than expected.
  struct Incomplete: Error {}

  fileprivate var bytes: ByteBuffer

  var isAtEnd: Bool { bytes.readableBytes == 0 }

  mutating func decoded() throws -> OracleReading {
    guard let isAccepted: UInt8 = bytes.readInteger(), let count: UInt32 = bytes.readInteger() else {
      throw Incomplete()
    }
    guard isAccepted == 1 else { return .refused(String(decoding: try read(Int(count)), as: UTF8.self)) }
    var lines: [FieldLine] = []
    for _ in 0..<count {
      guard let (isSensitive, name, value) = bytes.readMultipleIntegers(as: (UInt8, UInt32, UInt32).self) else {
        throw Incomplete()
      }
      lines.append(FieldLine(try read(Int(name)), try read(Int(value)), isSensitive: isSensitive == 1))
    }
    return .fields(lines)
  }

  mutating func block() throws -> [UInt8] {
    guard let count: UInt32 = bytes.readInteger() else { throw Incomplete() }
    return try read(Int(count))
  }

  private mutating func read(_ count: Int) throws -> [UInt8] {
    guard let part = bytes.readBytes(length: count) else { throw Incomplete() }
    return part
  }
}

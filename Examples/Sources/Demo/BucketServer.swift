import Apus
import ApusAWS
import Foundation

/// A third-party server with the API of S3, in its own process: SeaweedFS, started by the script `serve.py`. It ends
/// with this process at the latest.
final class BucketServer: Sendable {
  /// The account of the server.
  static let credentials = AWSCredentials(accessKeyID: "test:tester", secretAccessKey: "testing")

  /// The error of a server that did not start.
  struct NotStarted: Error, CustomStringConvertible {
    let reason: String
    var description: String { "SeaweedFS did not start: \(reason)" }
  }

  private let run: Task<Void, Never>
  private let addresses: AsyncThrowingStream<BaseURL, any Error>
  /// The script's standard input: when it is closed, the script stops the server.
  private let holding: FileHandle

  /// Starts the server of a checkout; `nil` if it is not installed there.
  init?(of checkout: String) {
    let script = "\(checkout)/scripts/servers/serve.py"
    guard FileManager.default.isExecutableFile(atPath: "\(checkout)/.build-servers/pypi/bin/weed"),
      FileManager.default.fileExists(atPath: script)
    else { return nil }
    let (input, output) = (Pipe(), Pipe())
    let (addresses, address) = AsyncThrowingStream<BaseURL, any Error>.makeStream()
    self.addresses = addresses
    holding = input.fileHandleForWriting
    // Without the flag, child processes of the demo would inherit the pipe and leave it open.
    _ = fcntl(holding.fileDescriptor, F_SETFD, FD_CLOEXEC)
    run = Task {
      do {
        try await Self.run(script, input, output) { address.yield($0) }
        address.finish()
      } catch {
        address.finish(throwing: error)
      }
    }
  }

  /// Waits until the server is ready. Returns its address. May be called once.
  func address() async throws -> BaseURL {
    for try await address in addresses { return address }
    throw NotStarted(reason: "it has ended")
  }

  /// Requests the end of the server, which takes several seconds.
  func end() {
    // Closing fails if the pipe was closed before.
    try? holding.close()
  }

  /// Stops the server. Returns when it has ended.
  func stop() async {
    end()
    await run.value
  }

  /// Runs the script until it ends.
  private static func run(
    _ script: String, _ input: Pipe, _ output: Pipe, onReady: (BaseURL) -> Void
  ) async throws {
    let process = Process()
    let (ends, ended) = AsyncStream<Void>.makeStream()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["python3", script, "seaweedfs"]
    process.standardInput = input
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    process.terminationHandler = { _ in ended.finish() }
    try process.run()
    onReady(try address(in: await firstLine(of: output.fileHandleForReading)))
    for await _ in ends {}
    if process.terminationStatus != 0 { throw NotStarted(reason: "status \(process.terminationStatus)") }
  }

  private static func firstLine(of handle: FileHandle) async -> String {
    let (pieces, piece) = AsyncStream<Data>.makeStream()
    handle.readabilityHandler = { handle in
      let data = handle.availableData
      if data.isEmpty { piece.finish() } else { piece.yield(data) }
    }
    defer { handle.readabilityHandler = nil }
    var line = Data()
    for await data in pieces {
      line += data
      if line.contains(UInt8(ascii: "\n")) { break }
    }
    return String(decoding: line, as: UTF8.self).trimmingCharacters(in: .newlines)
  }

  /// Reads the script's first line, `ready` with JSON or `failed` with a reason.
  static func address(in line: String) throws -> BaseURL {
    struct Facts: Decodable {
      let ports: [String: Int]
    }
    guard line.hasPrefix("ready ") else {
      let reason = line.hasPrefix("failed ") ? String(line.dropFirst(7)) : line
      throw NotStarted(reason: reason.isEmpty ? "it has ended" : reason)
    }
    let facts = try JSONDecoder().decode(Facts.self, from: Data(line.dropFirst(6).utf8))
    guard let port = facts.ports["plain"] else { throw NotStarted(reason: "it has named no port") }
    return try BaseURL("http://127.0.0.1:\(port)")
  }
}

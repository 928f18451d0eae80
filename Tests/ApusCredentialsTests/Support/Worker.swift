#if os(Linux) || os(macOS)
import Foundation
import TestSupport
import Testing

/// The program `CredentialsWorker` in a process of its own.
final class Worker {
  struct Ended: Error {}

  private let process = Process()
  private let input = Pipe()
  private let lines: AsyncStream<String>
  private let ends: AsyncStream<Void>

  /// Starts the program that was built beside this test's own.
  init(_ verb: String, _ place: Position, _ baseURL: String = "") throws {
    let output = Pipe()
    lines = output.lines()
    let (ends, ended) = AsyncStream<Void>.makeStream()
    self.ends = ends
    // A bundle on Apple platforms, the running program itself elsewhere.
    let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL
    let own = try #require(bundle ?? Bundle.main.executableURL)
    process.executableURL = own.deletingLastPathComponent().appending(path: "CredentialsWorker")
    process.arguments = [verb, place.file, place.keyFile, baseURL]
    process.standardInput = input
    process.standardOutput = output
    process.terminationHandler = { _ in ended.finish() }
    // Another process would hold it open.
    _ = fcntl(input.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
    try process.run()
  }

  /// A test that fails leaves no process behind.
  deinit {
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
  }

  /// The next line that it says.
  func line() async throws -> String {
    for await line in lines { return line }
    throw Ended()
  }

  /// Waits for a line.
  func says(_ text: String) async throws {
    let said = try await line()
    #expect(said == text)
  }

  /// Lets it go on where it waits for a line.
  func goOn() throws {
    try input.fileHandleForWriting.write(contentsOf: Data("\n".utf8))
  }

  /// Ends it at once, wherever it is.
  func end() async {
    kill(process.processIdentifier, SIGKILL)
    await hasEnded()
  }

  func hasEnded() async {
    for await _ in ends {}
  }
}
#endif

#if os(Linux) || os(macOS)
import Foundation
import Testing

/// A program of the tests that runs in a separate process.
public enum WorkerProgram: String {
  case credentials = "CredentialsWorker"
  case transfers = "TransfersWorker"
  case cache = "CacheWorker"
}

/// A process of a ``WorkerProgram``. It prints lines, and may wait for ``resume()``.
public final class WorkerProcess {
  /// The error of a process that ended before it printed the expected line.
  public struct Ended: Error {}

  private let process = Process()
  private let input = Pipe()
  private let lines: AsyncStream<String>
  private let ends: AsyncStream<Void>

  /// Starts the program that was built next to this test's program.
  public convenience init(_ program: WorkerProgram, _ arguments: String...) throws {
    try self.init(Self.url(of: program), arguments)
  }

  /// Starts a command that runs a shell with a script. In the script, `$0` is the path of the program.
  public convenience init(
    _ program: WorkerProgram, by command: [String], script: String, _ arguments: String...
  ) throws {
    let path = try Self.url(of: program).path
    try self.init(URL(filePath: "/usr/bin/env"), command + ["sh", "-c", script, path] + arguments)
  }

  /// Starts the program with additional environment variables.
  public convenience init(
    _ program: WorkerProgram, environment: [String: String], _ arguments: String...
  ) throws {
    try self.init(Self.url(of: program), arguments, environment: environment)
  }

  private init(_ program: URL, _ arguments: [String], environment: [String: String] = [:]) throws {
    let output = Pipe()
    lines = output.lines()
    let (ends, ended) = AsyncStream<Void>.makeStream()
    self.ends = ends
    process.executableURL = program
    process.arguments = arguments
    // Disables the coverage profile, because a program killed while writing its profile would leave an unreadable file.
    process.environment = ProcessInfo.processInfo.environment.merging(["LLVM_PROFILE_FILE": "/dev/null"]) { $1 }
      .merging(environment) { $1 }
    process.standardInput = input
    process.standardOutput = output
    process.terminationHandler = { _ in ended.finish() }
    // Without this flag another child process would inherit the descriptor and leave the pipe open.
    _ = fcntl(input.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
    try process.run()
  }

  private static func url(of program: WorkerProgram) throws -> URL {
    // On Apple platforms tests are in a bundle, elsewhere in the running program.
    let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL
    let own = try #require(bundle ?? Bundle.main.executableURL)
    return own.deletingLastPathComponent().appending(path: program.rawValue)
  }

  /// Kills the process, so that a failed test leaves no process behind.
  deinit {
    if process.isRunning { process.kill() }
  }

  /// Reads the next line.
  public func line() async throws -> String {
    for await line in lines { return line }
    throw Ended()
  }

  /// Reads lines until a line satisfies a condition. Returns the last line if the process ends first.
  public func line(where condition: (String) -> Bool) async -> String {
    var last = ""
    for await line in lines {
      last = line
      if condition(line) { break }
    }
    return last
  }

  /// Writes a line, so that a waiting process continues.
  public func resume() throws {
    try input.fileHandleForWriting.write(contentsOf: Data("\n".utf8))
  }

  /// Waits until the process has ended.
  public func waitUntilEnd() async {
    for await _ in ends {}
  }

  /// Kills the process and waits until it has ended. Returns its last line.
  @discardableResult
  public func kill() async -> String {
    process.kill()
    var last = ""
    for await line in lines { last = line }
    await waitUntilEnd()
    return last
  }
}

extension Process {
  fileprivate func kill() {
    _ = Foundation.kill(processIdentifier, SIGKILL)
  }
}

extension Pipe {
  /// Returns the lines that arrive. A dedicated thread reads the lines, because tests must not block.
  fileprivate func lines() -> AsyncStream<String> {
    let (lines, arrived) = AsyncStream<String>.makeStream()
    // The thread has a separate descriptor, so that it may still read after the pipe is closed.
    let descriptor = fcntl(fileHandleForReading.fileDescriptor, F_DUPFD_CLOEXEC, 0)
    Thread.detachNewThread {
      let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
      var rest: [UInt8] = []
      while true {
        let piece = handle.availableData
        if piece.isEmpty { break }
        rest += piece
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
          arrived.yield(String(decoding: rest[..<end], as: UTF8.self))
          rest.removeFirst(end + 1)
        }
      }
      arrived.finish()
    }
    return lines
  }
}
#endif

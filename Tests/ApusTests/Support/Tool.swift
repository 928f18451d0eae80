#if os(Linux) || os(macOS)
import Foundation

/// A program on this machine that tests run.
struct Tool {
  let path: String

  /// Finds a program in `PATH`.
  init?(_ name: String) {
    let folders = ProcessInfo.processInfo.environment["PATH", default: ""].split(separator: ":")
    let path = folders.map { "\($0)/\(name)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    guard let path else { return nil }
    self.path = path
  }

  static let python = Tool("python3")
  static let compiler = Tool("swiftc")

  /// Runs the program and returns its exit status and combined output.
  ///
  /// Waits on a separate thread, because blocking a thread of the shared pool would delay other tests.
  func run(
    _ arguments: [String], input: String = "", in folder: URL? = nil
  ) async throws -> (status: Int32, output: String) {
    try await withCheckedThrowingContinuation { done in
      Thread.detachNewThread {
        done.resume(with: Result { try block(arguments, input: input, in: folder) })
      }
    }
  }

  private func block(
    _ arguments: [String], input: String, in folder: URL?
  ) throws -> (status: Int32, output: String) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    process.currentDirectoryURL = folder
    let (stdin, output) = (Pipe(), Pipe())
    process.standardInput = stdin
    process.standardOutput = output
    process.standardError = output
    try process.run()
    stdin.fileHandleForWriting.write(Data(input.utf8))
    try stdin.fileHandleForWriting.close()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, text)
  }
}

/// The folder of the package.
let package = URL(fileURLWithPath: #filePath)
  .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
#endif

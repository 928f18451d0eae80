import Foundation

/// A server in a separate process that runs this program.
public final class ServerProcess {
  /// The port on loopback.
  public let port: Int
  private let process = Process()
  /// The standard input of the process. When it closes, the process ends.
  private let input = Pipe()

  /// Runs this program with arguments with which it must call ``announce(_:)``.
  public init(_ arguments: [String]) throws {
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
    process.arguments = arguments
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    guard let port = Int(line.trimmingCharacters(in: .whitespacesAndNewlines)) else { throw NotServing() }
    self.port = port
  }

  /// Ends the process.
  public func stop() {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
  }

  /// Prints the port, and returns when standard input closes.
  public static func announce(_ port: Int) throws {
    FileHandle.standardOutput.write(Data("\(port)\n".utf8))
    _ = try FileHandle.standardInput.readToEnd()
  }
}

/// A server could not be started.
public struct NotServing: Error {
  /// Creates the error.
  public init() {}
}

import Foundation
import Testing

/// A run of the built program as a process.
struct ToolRun: Sendable {
  let status: Int32
  /// Whether the process exited, instead of being ended by a signal.
  let isOrderly: Bool
  let output: Data
  let error: String

  var text: String { String(decoding: output, as: UTF8.self) }
  var lines: [String] { text.split(separator: "\n").map(String.init) }

  /// The settings of a run.
  struct Setting: Sendable {
    var input = Data()
    /// The descriptor of standard input; `nil` for `input`.
    var inputEnd: Int32?
    var environment: [String: String] = [:]
    /// A shell command that is run first, for example to set limits.
    var preparation: String?
    /// The descriptor of standard output; `nil` for a file that is read afterwards.
    var output: Int32?
    /// The descriptor of standard error; `nil` for a file that is read afterwards.
    var error: Int32?
  }

  /// Runs the program until it exits.
  ///
  /// - Parameters:
  ///   - arguments: the arguments.
  ///   - setting: the settings.
  ///   - whileRunning: runs concurrently, with the process id.
  static func of(
    _ arguments: [String], _ setting: Setting = Setting(),
    whileRunning: (pid_t) async throws -> Void = { _ in }
  ) async throws -> ToolRun {
    let folder = FileManager.default.temporaryDirectory.appending(path: "apus-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let process = Process()
    process.executableURL = try program()
    process.arguments = arguments
    if let preparation = setting.preparation {
      process.executableURL = URL(filePath: "/bin/sh")
      process.arguments = ["-c", "\(preparation); exec \"$0\" \"$@\"", try program().path] + arguments
    }
    var environment = ProcessInfo.processInfo.environment
    for name in ["http_proxy", "https_proxy", "all_proxy", "no_proxy", "NO_COLOR"] { environment[name] = nil }
    environment["TERM"] = "xterm"
    process.environment = environment.merging(setting.environment) { $1 }
    try setting.input.write(to: folder.appending(path: "input"))
    process.standardInput =
      try setting.inputEnd.map { FileHandle(fileDescriptor: $0) }
      ?? FileHandle(forReadingFrom: folder.appending(path: "input"))
    // The output is written to files, because reading pipes would block threads.
    process.standardOutput = try setting.output.map { FileHandle(fileDescriptor: $0) } ?? file("output", in: folder)
    process.standardError = try setting.error.map { FileHandle(fileDescriptor: $0) } ?? file("error", in: folder)
    let (ends, ended) = AsyncStream<Void>.makeStream()
    process.terminationHandler = { _ in ended.finish() }
    try process.run()
    try await whileRunning(process.processIdentifier)
    for await _ in ends {}
    return ToolRun(
      status: process.terminationStatus, isOrderly: process.terminationReason == .exit,
      output: (try? Data(contentsOf: folder.appending(path: "output"))) ?? Data(),
      error: (try? String(contentsOf: folder.appending(path: "error"), encoding: .utf8)) ?? "")
  }

  /// Runs the program with default settings.
  static func of(_ arguments: String..., input: String = "") async throws -> ToolRun {
    try await of(arguments, Setting(input: Data(input.utf8)))
  }

  private static func file(_ name: String, in folder: URL) throws -> FileHandle {
    let url = folder.appending(path: name)
    try Data().write(to: url)
    return try FileHandle(forWritingTo: url)
  }

  /// The built program, in the folder of the test's own executable.
  private static func program() throws -> URL {
    // The test bundle on Apple platforms, the running executable elsewhere.
    let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL
    let own = try #require(bundle ?? Bundle.main.executableURL)
    return own.deletingLastPathComponent().appending(path: "apus")
  }
}

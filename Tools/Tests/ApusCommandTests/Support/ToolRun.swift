import Foundation
import Testing

/// The built program in a process of its own, as a person or a script runs it.
struct ToolRun: Sendable {
  let status: Int32
  /// Whether it ended by itself, and not by a signal.
  let isOrderly: Bool
  let output: Data
  let error: String

  var text: String { String(decoding: output, as: UTF8.self) }
  var lines: [String] { text.split(separator: "\n").map(String.init) }

  /// What is different from a plain run.
  struct Setting: Sendable {
    var input = Data()
    /// Where standard input comes from instead.
    var inputEnd: Int32?
    var environment: [String: String] = [:]
    /// What a shell does before it becomes the program, such as setting limits.
    var preparation: String?
    /// Where standard output goes; `nil`: into a file that is read afterwards.
    var output: Int32?
    /// Where standard error goes.
    var error: Int32?
  }

  /// Runs the program to its end.
  ///
  /// - Parameters:
  ///   - arguments: of the command line.
  ///   - setting: what is different from a plain run.
  ///   - whileRunning: is given the process's number, and runs beside it.
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
    // Into files: pipes would have to be read by threads that may block.
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

  /// A plain run.
  static func of(_ arguments: String..., input: String = "") async throws -> ToolRun {
    try await of(arguments, Setting(input: Data(input.utf8)))
  }

  private static func file(_ name: String, in folder: URL) throws -> FileHandle {
    let url = folder.appending(path: name)
    try Data().write(to: url)
    return try FileHandle(forWritingTo: url)
  }

  /// The program that was built beside this test's own.
  private static func program() throws -> URL {
    // A bundle on Apple platforms, the running program itself elsewhere.
    let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL
    let own = try #require(bundle ?? Bundle.main.executableURL)
    return own.deletingLastPathComponent().appending(path: "apus")
  }
}

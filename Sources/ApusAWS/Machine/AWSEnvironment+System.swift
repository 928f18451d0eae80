#if AWS
import ApusCore
import Foundation
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

extension AWSEnvironment {
  /// The environment of the process: its variables, the files of its user and the programs of the machine.
  public static var system: AWSEnvironment {
    let variables = ProcessInfo.processInfo.environment
    var environment = AWSEnvironment(variables: variables, home: variables["HOME"].flatMap { $0.isEmpty ? nil : $0 })
    environment.readFile = { try SystemFile.read($0, maximumLength: $1) }
    #if os(macOS) || os(Linux)
    environment.runProgram = { try await SystemProgram.run($0) }
    #endif
    return environment
  }
}

/// A regular file that is read whole.
enum SystemFile {
  /// The reason why a file was not read.
  enum Failure: LoggableError {
    case unreadable, tooLong, notRegular

    var description: String {
      switch self {
      case .unreadable: "it cannot be read"
      case .tooLong: "it is too long"
      case .notRegular: "it is not a regular file"
      }
    }
  }

  /// Returns the content of a file; `nil` if there is none.
  static func read(_ path: String, maximumLength: Int) throws(Failure) -> Data? {
    // Without waiting: a pipe in place of the file would block for ever.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw .unreadable
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .unreadable }
    guard status.st_mode & S_IFMT == S_IFREG else { throw .notRegular }
    var all = Data()
    var buffer = [UInt8](repeating: 0, count: 16 << 10)
    while true {
      let count = buffer.withUnsafeMutableBytes { systemRead(descriptor, $0) }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw .unreadable }
      if count == 0 { return all }
      all += buffer[..<count]
      guard all.count <= maximumLength else { throw .tooLong }
    }
  }

  private static func systemRead(_ descriptor: CInt, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
    #if canImport(Darwin)
    Darwin.read(descriptor, buffer.baseAddress, buffer.count)
    #elseif canImport(Glibc)
    Glibc.read(descriptor, buffer.baseAddress, buffer.count)
    #else
    Musl.read(descriptor, buffer.baseAddress, buffer.count)
    #endif
  }
}

#if os(macOS) || os(Linux)
/// A program that is run without a shell, with a limit of its output and its time.
enum SystemProgram {
  /// Runs a program to its end.
  ///
  /// - Returns: its standard output. Its standard error is discarded, because it may contain secrets.
  static func run(_ program: AWSProgram) async throws -> Data {
    guard let path = path(of: program) else { throw AWSProgramError.notStarted }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = program.arguments
    process.environment = program.variables
    // Not the working directory of this process, which may be a project with programs of its author.
    process.currentDirectoryURL = URL(fileURLWithPath: "/")
    let output = Pipe()
    (process.standardOutput, process.standardInput, process.standardError) =
      (output, FileHandle.nullDevice, FileHandle.nullDevice)
    let running = RunningProgram(process, output.fileHandleForReading, program)
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { running.start($0) }
    } onCancel: {
      running.end(with: .failure(CancellationError()))
    }
  }

  /// The absolute path of a program. Relative entries of `PATH` would lead to the working directory.
  private static func path(of program: AWSProgram) -> String? {
    if program.path.contains("/") { return program.path.hasPrefix("/") ? program.path : nil }
    let folders = (program.variables["PATH"] ?? "").split(separator: ":").filter { $0.hasPrefix("/") }
    return folders.lazy.map { "\($0)/\(program.path)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
  }
}

/// A program that runs, and the caller that waits for it.
private final class RunningProgram: Sendable {
  private struct State {
    var waiter: CheckedContinuation<Data, any Error>?
    var result: Result<Data, any Error>?
    var identifier: Int32?
    /// Whether the program has ended, so that its number may belong to another one.
    var hasExited = false

    func killProgram() {
      if let identifier, !hasExited { kill(identifier, SIGKILL) }
    }
  }

  private struct Parts: @unchecked Sendable {
    // Foundation's process and file handle are used by one thread at a time: first by `start`, then by the reader.
    let process: Process
    let output: FileHandle
  }

  private let parts: Parts
  private let program: AWSProgram
  private let state = Mutex(State())

  init(_ process: Process, _ output: FileHandle, _ program: AWSProgram) {
    (parts, self.program) = (Parts(process: process, output: output), program)
  }

  func start(_ waiter: CheckedContinuation<Data, any Error>) {
    let early = state.withLock { state in
      if state.result == nil { state.waiter = waiter }
      return state.result
    }
    if let early { return waiter.resume(with: early) }
    parts.process.terminationHandler = { [weak self] _ in self?.state.withLock { $0.hasExited = true } }
    do {
      try parts.process.run()
    } catch {
      return end(with: .failure(AWSProgramError.notStarted))
    }
    let id = parts.process.processIdentifier
    state.withLock { state in
      state.identifier = id
      // The wait may have ended while the program was started.
      if case .failure? = state.result { state.killProgram() }
    }
    let limit = DispatchTime.now() + .milliseconds(Int(clamping: program.timeout.components.seconds * 1000))
    DispatchQueue.global().asyncAfter(deadline: limit) { [weak self] in
      self?.end(with: .failure(AWSProgramError.timedOut))
    }
    DispatchQueue.global().async { self.readToEnd() }
  }

  /// Ends the wait once; a program that still runs is killed.
  func end(with result: Result<Data, any Error>) {
    let (waiter, isFirst) = state.withLock { state in
      let isFirst = state.result == nil
      if isFirst {
        state.result = result
        if case .failure = result { state.killProgram() }
      }
      return (state.waiter.take(), isFirst)
    }
    if isFirst { waiter?.resume(with: result) }
  }

  private func readToEnd() {
    var all = Data()
    while let piece = try? parts.output.read(upToCount: 16 << 10), !piece.isEmpty {
      all += piece
      guard all.count <= program.maximumLength else { return end(with: .failure(AWSProgramError.outputTooLong)) }
    }
    parts.process.waitUntilExit()
    // The handler may be called later.
    state.withLock { $0.hasExited = true }
    let status = Int(parts.process.terminationStatus)
    guard parts.process.terminationReason == .exit, status == 0 else {
      return end(with: .failure(AWSProgramError.failed(status: status)))
    }
    end(with: .success(all))
  }
}
#endif
#endif

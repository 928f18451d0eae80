#if os(macOS) || os(Linux)
import Foundation
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A program that is run without a shell, with limits for its output and its time.
enum SystemProgram {
  /// Runs a program until it ends. The standard output may stay open after that, because an agent that the program
  /// started may have inherited it.
  ///
  /// - Returns: the program's standard output. The standard error is discarded, because it may contain secrets.
  static func run(_ program: AWSProgram) async throws -> Data {
    guard let path = path(of: program) else { throw AWSProgramError.notStarted }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = program.arguments
    process.environment = program.variables
    // The working directory of this process is not used, because it may be a project with untrusted programs.
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

  /// Returns the absolute path of a program. Ignores relative entries of `PATH`, because they would lead to the working
  /// directory.
  private static func path(of program: AWSProgram) -> String? {
    if program.path.contains("/") { return program.path.hasPrefix("/") ? program.path : nil }
    let folders = (program.variables["PATH"] ?? "").split(separator: ":").filter { $0.hasPrefix("/") }
    return folders.lazy.map { "\($0)/\(program.path)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
  }
}

/// A running program, and the caller that waits for it.
private final class RunningProgram: Sendable {
  private struct State {
    var waiter: CheckedContinuation<Data, any Error>?
    var result: Result<Data, any Error>?
    var output = Data()
    var watch: Watch?
    var identifier: Int32?
    /// Whether the program has ended, so that another process may have its identifier.
    var hasExited = false

    func killProgram() {
      if let identifier, !hasExited { kill(identifier, SIGKILL) }
    }
  }

  private struct Parts: @unchecked Sendable {
    // One thread at a time uses Foundation's process: first `start`, then the thread that waits for its end. Of the
    // file handle only the descriptor is used.
    let process: Process
    let output: FileHandle
  }

  /// A source of events when output is available. Any thread may cancel it.
  private struct Watch: @unchecked Sendable {
    let source: any DispatchSourceRead
  }

  private let parts: Parts
  private let program: AWSProgram
  private let state = Mutex(State())
  /// The queue on which the output is read.
  private let reading = DispatchQueue(label: "AWSProgram")

  init(_ process: Process, _ output: FileHandle, _ program: AWSProgram) {
    (parts, self.program) = (Parts(process: process, output: output), program)
  }

  func start(_ waiter: CheckedContinuation<Data, any Error>) {
    let early = state.withLock { state in
      if state.result == nil { state.waiter = waiter }
      return state.result
    }
    if let early { return waiter.resume(with: early) }
    do {
      try parts.process.run()
    } catch {
      return end(with: .failure(AWSProgramError.notStarted))
    }
    let id = parts.process.processIdentifier
    let watch = watchOutput()
    state.withLock { state in
      (state.identifier, state.watch) = (id, watch)
      guard case .failure? = state.result else { return }
      // The wait has ended while the program was being started.
      state.killProgram()
      watch.source.cancel()
    }
    let limit = DispatchTime.now() + .milliseconds(Int(clamping: program.timeout.components.seconds * 1000))
    DispatchQueue.global().asyncAfter(deadline: limit) { [weak self] in
      self?.end(with: .failure(AWSProgramError.timedOut))
    }
    DispatchQueue.global().async {
      let status = self.exitStatus(of: id)
      self.reading.async { self.finish(status) }
    }
  }

  /// Ends the wait once, and kills a program that still runs.
  func end(with result: Result<Data, any Error>) {
    let (waiter, isFirst) = state.withLock { state in
      let isFirst = state.result == nil
      if isFirst {
        state.result = result
        state.watch?.source.cancel()
        if case .failure = result { state.killProgram() }
      }
      return (state.waiter.take(), isFirst)
    }
    if isFirst { waiter?.resume(with: result) }
  }

  // MARK: Output

  private func watchOutput() -> Watch {
    let descriptor = parts.output.fileDescriptor
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: reading)
    source.setEventHandler { [weak self] in self?.read() }
    // The descriptor stays open until the source is cancelled.
    source.setCancelHandler { [parts] in withExtendedLifetime(parts) {} }
    source.activate()
    return Watch(source: source)
  }

  /// Reads the available output.
  private func read() {
    var buffer = [UInt8](repeating: 0, count: 16 << 10)
    while true {
      let count = buffer.withUnsafeMutableBytes { SystemFile.systemRead(parts.output.fileDescriptor, $0) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else {
        if count == 0 { state.withLock { $0.watch?.source.cancel() } }
        return
      }
      let length = state.withLock { state in
        state.output += buffer[..<count]
        return state.output.count
      }
      guard length <= program.maximumLength else { return end(with: .failure(AWSProgramError.outputTooLong)) }
    }
  }

  // MARK: End

  private func finish(_ status: Int) {
    read()
    guard status == 0 else { return end(with: .failure(AWSProgramError.failed(status: status))) }
    end(with: .success(state.withLock { $0.output }))
  }

  /// Waits until the program has ended. Returns its status, or the number of the signal that ended it.
  private func exitStatus(of id: Int32) -> Int {
    defer { state.withLock { $0.hasExited = true } }
    #if !canImport(Darwin)
    // Foundation's wait is not used: it waits until descendants of the program close an inherited socket, and only then
    // collects the status.
    var info = siginfo_t()
    var result: CInt
    repeat {
      result = waitid(P_PID, id_t(id), &info, WEXITED | WNOWAIT)
    } while result != 0 && errno == EINTR
    if result == 0 {
      #if canImport(Glibc)
      return Int(info._sifields._sigchld.si_status)
      #else
      return Int(info.__si_fields.__si_common.__second.__sigchld.si_status)
      #endif
    }
    #endif
    parts.process.waitUntilExit()
    return Int(parts.process.terminationStatus)
  }
}
#endif

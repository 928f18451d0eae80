import Apus

/// The terminal and the outputs of a command.
struct Outputs: Sendable {
  let terminal: Terminal
  let output: DescriptorWriter
  let error: DescriptorWriter

  /// The outputs of the process.
  static func current() -> Outputs {
    Outputs(terminal: .current(), output: .standardOutput(), error: .standardError())
  }

  /// Runs a command and reports its error on standard error.
  ///
  /// - Parameter work: the command. Its errors determine the status.
  func run(_ work: () async throws -> Void) async -> ExitStatus {
    do {
      try await work()
      // Waits until the queued traces are written.
      await error.writeMessage("")
      return .accepted
    } catch {
      return await (error as? Ending ?? Ending(error)).reported(on: self.error)
    }
  }

  /// Returns the observers of a command's calls.
  func observers(showsTraces: Bool) -> [any CallObserver] { showsTraces ? [TracePrinter(error: error)] : [] }
}

extension Ending: Error {
  /// Writes the error message to standard error. Returns the status.
  func reported(on error: DescriptorWriter) async -> ExitStatus {
    await error.writeMessage(complaint?.text ?? "")
    return status
  }
}

/// An observer that prints the trace of each call when the call has ended.
struct TracePrinter: CallObserver {
  let error: DescriptorWriter

  func observe(_ event: TraceEvent, of call: CallEntry) {
    switch event.kind {
    case .succeeded, .failed: error.enqueue(TerminalText.harmless("\(call.trace)\n"))
    default: break
    }
  }
}

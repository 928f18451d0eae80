import Dispatch
import Foundation
import Synchronization

/// Conversion of termination signals into cancellation, so that work can clean up.
enum Interruption {
  /// Runs work that SIGINT, SIGHUP and SIGTERM cancel. A second signal ends the program immediately. Signals that were
  /// ignored at the start, as under `nohup`, stay ignored.
  ///
  /// - Returns: the status of the work, or of the signal that cancelled it.
  static func during(_ work: @escaping @Sendable () async -> ExitStatus) async -> ExitStatus {
    // A closed output must only fail the write, not end the program.
    signal(SIGPIPE, SIG_IGN)
    let first = FirstSignal()
    let (preparation, prepared) = AsyncStream<Void>.makeStream()
    let task = Task {
      // A signal before the handlers are installed could end work halfway, with the terminal's echo off.
      for await _ in preparation {}
      return await work()
    }
    let statuses = [(SIGHUP, ExitStatus.hungUp), (SIGINT, .interrupted), (SIGTERM, .terminated)]
    var sources: [any DispatchSourceSignal] = []
    for (number, status) in statuses where !isIgnored(number) {
      sources.append(
        await source(of: number) {
          guard first.take(status) else {
            SilentTerminal.endAll()
            _exit(status.rawValue)
          }
          task.cancel()
        })
    }
    prepared.finish()
    let ending = await task.value
    for source in sources { source.cancel() }
    return first.status ?? ending
  }

  /// Installs a handler of a signal, which then no longer ends the program.
  private static func source(
    of number: Int32, _ handler: @escaping @Sendable () -> Void
  ) async -> any DispatchSourceSignal {
    let source = DispatchSource.makeSignalSource(signal: number, queue: .global(qos: .userInitiated))
    source.setEventHandler(handler: handler)
    await withCheckedContinuation { continuation in
      source.setRegistrationHandler { continuation.resume() }
      source.resume()
    }
    #if canImport(Darwin)
    // On Apple platforms the signal keeps its default action; elsewhere the source replaces it.
    signal(number, SIG_IGN)
    #endif
    return source
  }

  private static func isIgnored(_ number: Int32) -> Bool {
    handler(of: number) == unsafeBitCast(SIG_IGN, to: Int.self)
  }

  /// Returns the address of a signal's handler, or a constant such as `SIG_IGN`; `nil` for an unknown signal.
  static func handler(of number: Int32) -> Int? {
    var action = sigaction()
    guard sigaction(number, nil, &action) == 0 else { return nil }
    #if canImport(Darwin)
    return unsafeBitCast(action.__sigaction_u.__sa_handler, to: Int.self)
    #else
    return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
    #endif
  }
}

/// The first signal received.
private final class FirstSignal: Sendable {
  private let state = Mutex<ExitStatus?>(nil)

  var status: ExitStatus? { state.withLock { $0 } }

  /// Stores the status. Returns `false` if a status was stored already.
  func take(_ status: ExitStatus) -> Bool {
    state.withLock { state in
      guard state == nil else { return false }
      state = status
      return true
    }
  }
}

import Dispatch
import Foundation
import Synchronization

/// Lets the signals that end a program cancel its work instead, so that it can put things in order.
enum Interruption {
  /// Runs the work; an interrupt, the end of the terminal or a request to terminate cancels it, a second one ends the
  /// program at once. What was ignored when the program was started, as under `nohup`, stays so.
  ///
  /// - Returns: how the work ended, or the signal's status where there was one.
  static func during(_ work: @escaping @Sendable () async -> ExitStatus) async -> ExitStatus {
    // Who reads our output may go away: then writing fails, and nothing else happens.
    signal(SIGPIPE, SIG_IGN)
    let first = FirstSignal()
    let task = Task { await work() }
    let statuses = [(SIGHUP, ExitStatus.hungUp), (SIGINT, .interrupted), (SIGTERM, .terminated)]
    let sources = statuses.compactMap { number, status -> (any DispatchSourceSignal)? in
      guard !ignore(number) else { return nil }
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global(qos: .userInitiated))
      source.setEventHandler {
        guard first.take(status) else {
          SilentTerminal.endAll()
          _exit(status.rawValue)
        }
        task.cancel()
      }
      source.resume()
      return source
    }
    let ending = await task.value
    for source in sources { source.cancel() }
    return first.status ?? ending
  }

  /// Ignores a signal, which a source then tells of.
  ///
  /// - Returns: whether it was ignored before.
  private static func ignore(_ number: Int32) -> Bool {
    let before: (@convention(c) (Int32) -> Void)? = signal(number, SIG_IGN)
    let ignored: (@convention(c) (Int32) -> Void)? = SIG_IGN
    return unsafeBitCast(before, to: Int.self) == unsafeBitCast(ignored, to: Int.self)
  }
}

/// The first signal that came.
private final class FirstSignal: Sendable {
  private let state = Mutex<ExitStatus?>(nil)

  var status: ExitStatus? { state.withLock { $0 } }

  /// Keeps the status unless there is one.
  func take(_ status: ExitStatus) -> Bool {
    state.withLock { state in
      guard state == nil else { return false }
      state = status
      return true
    }
  }
}

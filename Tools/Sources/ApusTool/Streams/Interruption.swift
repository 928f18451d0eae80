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
    let (preparation, prepared) = AsyncStream<Void>.makeStream()
    let task = Task {
      // Work that had begun before could be ended half done, with the terminal left silent.
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

  /// Tells of a signal, which from then on ends the program no more.
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
      // The kernel tells of it and still does what it always does. Elsewhere the source has a handler of its own.
      signal(number, SIG_IGN)
    #endif
    return source
  }

  private static func isIgnored(_ number: Int32) -> Bool {
    handler(of: number) == unsafeBitCast(SIG_IGN, to: Int.self)
  }

  /// The address of what handles a signal, or what stands in its place, such as `SIG_IGN`; `nil`: there is no such signal.
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

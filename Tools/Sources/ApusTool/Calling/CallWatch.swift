import Apus
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An observer of a command's calls: stores the trace of the latest call and draws the progress of its content.
final class CallWatch: CallObserver {
  private struct State {
    var entry: CallEntry?
    var bar: ProgressBar?
  }

  private let state: Mutex<State>
  private let error: DescriptorWriter

  /// - Parameters:
  ///   - bar: the progress bar; `nil` without a terminal to draw on.
  ///   - error: standard error, on which the bar is drawn.
  init(bar: ProgressBar?, error: DescriptorWriter) {
    state = Mutex(State(bar: bar))
    self.error = error
  }

  /// The trace of the call; `nil` before its start.
  var trace: Trace? { state.withLock { $0.entry }?.trace }

  /// The version of HTTP of the latest connection; `nil` if it is unknown.
  var protocolVersion: HTTPVersion? {
    for event in trace?.events.reversed() ?? [] {
      if case .connected(_, let info) = event.kind { return info.protocolVersion }
    }
    return nil
  }

  func observe(_ event: TraceEvent, of call: CallEntry) {
    let drawing = state.withLock { state -> String? in
      state.entry = call
      let elapsed = call.startInstant.duration(to: event.instant)
      switch event.kind {
      case .sendProgress(let sent, let expected):
        return state.bar?.update(.init(direction: .sent, bytes: sent, total: expected), elapsed: elapsed)
      case .receiveProgress(let received, let expected):
        return state.bar?.update(.init(direction: .received, bytes: received, total: expected), elapsed: elapsed)
      default: return nil
      }
    }
    if let drawing { error.enqueue(drawing) }
  }

  /// Removes the progress bar. Called before content is written to the same terminal, and before the tool exits.
  func stopDrawing() async {
    let drawing = state.withLock { state in
      defer { state.bar = nil }
      return state.bar?.finish()
    }
    if let drawing { await error.writeMessage(drawing) }
  }
}

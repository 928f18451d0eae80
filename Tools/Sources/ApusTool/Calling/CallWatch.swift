import Apus
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Follows the one call of `apus send`: keeps it for its timeline, and shows how far its content is.
final class CallWatch: CallObserver {
  private struct State {
    var entry: CallEntry?
    var bar: ProgressBar?
  }

  private let state: Mutex<State>
  private let error: DescriptorWriter

  /// - Parameters:
  ///   - bar: draws; `nil` where there is no terminal to draw on.
  ///   - error: takes the drawing.
  init(bar: ProgressBar?, error: DescriptorWriter) {
    state = Mutex(State(bar: bar))
    self.error = error
  }

  /// Everything that happened to the call.
  var trace: Trace? { state.withLock { $0.entry }?.trace }

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

  /// Draws no more: content is about to be shown on the same terminal, or all is over.
  func stopDrawing() async {
    let drawing = state.withLock { state in
      defer { state.bar = nil }
      return state.bar?.finish()
    }
    if let drawing { try? await error.writeToTheEnd(Data(drawing.utf8)) }
  }
}

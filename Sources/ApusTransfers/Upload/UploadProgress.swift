import Synchronization

/// The progress of an upload: the parts on the server, and the bytes sent of further parts.
final class UploadProgress: Sendable {
  private struct State {
    var count: ProgressCount
    var stored: Int64 = 0
    /// The number of sent bytes of each part in progress, by the offset of the part.
    var sent: [Int64: Int64] = [:]
  }

  private let length: Int64
  private let state: Mutex<State>

  init(of calls: UploadCalls) {
    length = calls.length
    state = Mutex(State(count: ProgressCount { [calls] completed, _ in calls.report(completed) }))
  }

  /// Records the number of bytes on the server.
  func reach(_ stored: Int64) {
    change { $0.stored = stored }
  }

  /// Records the number of sent bytes of a part.
  func send(_ count: Int64, of part: Range<Int64>) {
    change { $0.sent[part.lowerBound] = min(count, Int64(part.count)) }
  }

  /// Records that a part is no longer being sent.
  func end(_ part: Range<Int64>) {
    state.withLock { $0.sent[part.lowerBound] = nil }
  }

  /// Reports the progress inside the lock, so that the reports are in order.
  private func change(_ change: (inout State) -> Void) {
    state.withLock { state in
      change(&state)
      state.count.reach(state.stored + state.sent.values.reduce(0, +), of: length)
    }
  }
}

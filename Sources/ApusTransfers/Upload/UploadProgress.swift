import Synchronization

/// The progress of an upload: the parts on the server, and what was sent of others.
final class UploadProgress: Sendable {
  private struct State {
    var count: ProgressCount
    var stored: Int64 = 0
    /// The number of bytes that were sent of each part that is being sent, by the offset of the part.
    var sent: [Int64: Int64] = [:]
  }

  private let length: Int64
  private let state: Mutex<State>

  init(of calls: UploadCalls) {
    length = calls.length
    state = Mutex(State(count: ProgressCount { [calls] completed, _ in calls.report(completed) }))
  }

  /// The server has this number of bytes.
  func reach(_ stored: Int64) {
    change { $0.stored = stored }
  }

  /// A number of bytes of a part was sent.
  func send(_ count: Int64, of part: Range<Int64>) {
    change { $0.sent[part.lowerBound] = min(count, Int64(part.count)) }
  }

  /// A part is no longer being sent.
  func end(_ part: Range<Int64>) {
    state.withLock { $0.sent[part.lowerBound] = nil }
  }

  /// Reports inside the lock, so that the reports are in order.
  private func change(_ change: (inout State) -> Void) {
    state.withLock { state in
      change(&state)
      state.count.reach(state.stored + state.sent.values.reduce(0, +), of: length)
    }
  }
}

import NIOCore
import Synchronization

/// One client's connection, and whether the client is still there.
final class Connection: Sendable {
  private struct State {
    var hasLeft = false
    /// Begun and not answered in full, oldest first; `nil` for one that is not logged.
    var open: [Exchange?] = []
    var waiters: [AsyncStream<Never>.Continuation] = []
  }

  /// Counts the connections of a backend, from 1.
  let number: Int
  let channel: any Channel
  private let state = Mutex(State())

  init(number: Int, channel: any Channel) {
    self.number = number
    self.channel = channel
  }

  /// Whether the client has closed its side.
  var hasLeft: Bool { state.withLock { $0.hasLeft } }

  /// The exchange that a route is at work on: the newest. The answer before may still be on its way out.
  var exchange: Exchange? { state.withLock { $0.open.last ?? nil } }

  /// A request has arrived, perhaps of a client that has closed its side since.
  func began(_ exchange: Exchange?) {
    let hasLeft = state.withLock { state in
      state.open.append(exchange)
      return state.hasLeft
    }
    if hasLeft { exchange?.clientLeft() }
  }

  /// The end of an answer is being written; answers come in the order of their requests.
  func nextAnswered() -> Exchange? {
    state.withLock { $0.open.isEmpty ? nil : $0.open.removeFirst() }
  }

  /// Waits until the client leaves, or the task is cancelled.
  func waitUntilLeft() async {
    let (stream, continuation) = AsyncStream<Never>.makeStream()
    let isOver = state.withLock { state in
      if !state.hasLeft { state.waiters.append(continuation) }
      return state.hasLeft
    }
    if isOver { return }
    for await _ in stream {}
  }

  /// Waits for some time, at most until the client leaves.
  ///
  /// - Throws: ``ClientLeft`` when the client left or the task was cancelled.
  func pause(for duration: Duration) async throws {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { try? await Task.sleep(for: duration) }
      group.addTask { await self.waitUntilLeft() }
      await group.next()
      group.cancelAll()
    }
    if hasLeft || Task.isCancelled { throw ClientLeft() }
  }

  /// The client closed its side.
  func left() {
    let (open, waiters) = state.withLock { state in
      defer { state.waiters = [] }
      state.hasLeft = true
      return (state.open, state.waiters)
    }
    for exchange in open { exchange?.clientLeft() }
    for waiter in waiters { waiter.finish() }
  }
}

/// There is nobody left to answer.
struct ClientLeft: Error {}

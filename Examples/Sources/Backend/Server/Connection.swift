import NIOCore
import Synchronization

/// One client's connection, and whether the client is still there.
final class Connection: Sendable {
  private struct State {
    var hasLeft = false
    var exchange: Exchange?
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

  /// The exchange in progress: HTTP/1.1 has one at a time.
  var exchange: Exchange? {
    get { state.withLock { $0.exchange } }
    set { state.withLock { $0.exchange = newValue } }
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
    let (exchange, waiters) = state.withLock { state in
      defer { state.waiters = [] }
      let first = !state.hasLeft
      state.hasLeft = true
      return (first ? state.exchange : nil, state.waiters)
    }
    exchange?.clientLeft()
    for waiter in waiters { waiter.finish() }
  }
}

/// There is nobody left to answer.
struct ClientLeft: Error {}

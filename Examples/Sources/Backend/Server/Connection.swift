import NIOCore
import Synchronization

/// A client's connection, and whether the client is still connected.
final class Connection: Sendable {
  private struct State {
    var hasLeft = false
    /// The exchanges without a complete response, oldest first; `nil` for exchanges that are not logged.
    var open: [Exchange?] = []
    var waiters: [AsyncStream<Never>.Continuation] = []
  }

  /// The number of the connection, from 1.
  let number: Int
  let channel: any Channel
  private let state = Mutex(State())

  init(number: Int, channel: any Channel) {
    self.number = number
    self.channel = channel
  }

  /// Whether the client has closed its side of the connection.
  var hasLeft: Bool { state.withLock { $0.hasLeft } }

  /// Records a request. Its client may have disconnected already.
  func began(_ exchange: Exchange?) {
    let hasLeft = state.withLock { state in
      state.open.append(exchange)
      return state.hasLeft
    }
    if hasLeft { exchange?.clientLeft() }
  }

  /// Records that the response to the oldest request was sent completely: responses are sent in the order of requests.
  func responded() {
    state.withLock { state in
      if !state.open.isEmpty { state.open.removeFirst() }
    }
  }

  /// Waits until the client disconnects, or the task is cancelled.
  func waitUntilLeft() async {
    let (stream, continuation) = AsyncStream<Never>.makeStream()
    let isOver = state.withLock { state in
      if !state.hasLeft { state.waiters.append(continuation) }
      return state.hasLeft
    }
    if isOver { return }
    for await _ in stream {}
  }

  /// Waits for a duration, or until the client disconnects.
  ///
  /// - Throws: ``ClientLeft`` if the client disconnected or the task was cancelled.
  func pause(for duration: Duration) async throws {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { try? await Task.sleep(for: duration) }
      group.addTask { await self.waitUntilLeft() }
      await group.next()
      group.cancelAll()
    }
    if hasLeft || Task.isCancelled { throw ClientLeft() }
  }

  /// Records that the client closed its side of the connection.
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

/// The client disconnected before the response.
struct ClientLeft: Error {}

/// The open connections.
final class Connections: Sendable {
  private struct State {
    var open: [ObjectIdentifier: Connection] = [:]
    var count = 0
    var isClosing = false
  }

  private let state = Mutex(State())

  func opened(_ channel: any Channel) -> Connection {
    let (connection, isClosing) = state.withLock { state in
      state.count += 1
      let connection = Connection(number: state.count, channel: channel)
      state.open[ObjectIdentifier(channel)] = connection
      return (connection, state.isClosing)
    }
    if isClosing { channel.close(promise: nil) }
    return connection
  }

  func closed(_ channel: any Channel) {
    let connection = state.withLock { $0.open.removeValue(forKey: ObjectIdentifier(channel)) }
    connection?.left()
  }

  /// Closes all connections, including connections that are being accepted.
  func close() {
    let open = state.withLock { state in
      state.isClosing = true
      return Array(state.open.values)
    }
    for connection in open { connection.channel.close(promise: nil) }
  }
}

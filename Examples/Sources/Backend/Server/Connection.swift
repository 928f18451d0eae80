import NIOCore
import NIOHTTPTypes
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

  /// Whether the client has closed its side.
  var hasLeft: Bool { state.withLock { $0.hasLeft } }

  /// The exchange that a route is handling: the newest. The previous response may still be in transit.
  var exchange: Exchange? { state.withLock { $0.open.last ?? nil } }

  /// Records a request, whose client may have left already.
  func began(_ exchange: Exchange?) {
    let hasLeft = state.withLock { state in
      state.open.append(exchange)
      return state.hasLeft
    }
    if hasLeft { exchange?.clientLeft() }
  }

  /// Returns the exchange whose response ends next: responses are sent in the order of requests.
  func nextToEnd() -> Exchange? {
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

  /// Waits for a duration, or until the client leaves.
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

  /// Records that the client closed its side.
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

/// The client left before the response.
struct ClientLeft: Error {}

/// The open connections.
final class Connections: Sendable {
  private struct State {
    var open: [ObjectIdentifier: Connection] = [:]
    var count = 0
    var isClosing = false
  }

  private let state = Mutex(State())

  subscript(channel: any Channel) -> Connection? {
    state.withLock { $0.open[ObjectIdentifier(channel)] }
  }

  func opened(_ channel: any Channel) {
    let isClosing = state.withLock { state in
      state.count += 1
      state.open[ObjectIdentifier(channel)] = Connection(number: state.count, channel: channel)
      return state.isClosing
    }
    if isClosing { channel.close(promise: nil) }
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

/// A channel handler that reports when a client connects, disconnects, and has received a whole response.
///
/// All three events run on the connection's event loop, so they are in order: a client that disconnects right after
/// its response never counts as having left early. The server allows half-closed connections, so a closed socket is
/// reported as `inputClosed` rather than as a closed channel. A client that closes only its sending side counts as
/// gone; no HTTP client does that.
final class ConnectionHandler: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart
  typealias OutboundIn = HTTPResponsePart
  typealias OutboundOut = HTTPResponsePart

  private let connections: Connections

  init(_ connections: Connections) {
    self.connections = connections
  }

  func handlerAdded(context: ChannelHandlerContext) {
    connections.opened(context.channel)
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .some(.inputClosed) = event as? ChannelEvent {
      connections[context.channel]?.left()
    }
    context.fireUserInboundEventTriggered(event)
  }

  func channelInactive(context: ChannelHandlerContext) {
    connections.closed(context.channel)
    context.fireChannelInactive()
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    guard case .end = unwrapOutboundIn(data), let exchange = connections[context.channel]?.nextToEnd() else {
      context.write(data, promise: promise)
      return
    }
    let promise = promise ?? context.eventLoop.makePromise()
    promise.futureResult.whenComplete { result in
      switch result {
      case .success: exchange.ended()
      case .failure: exchange.clientLeft()
      }
    }
    context.write(data, promise: promise)
  }
}
